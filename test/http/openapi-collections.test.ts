import { describe, expect, test } from 'vitest'
import { collectionFiles } from '../../src/http/openapi/collection-formats.ts'
import { openApiDocument } from '../../src/http/openapi/document.ts'
import { openReceiver, openSimulator } from '../support/simulator.ts'

/** A request as one of the readers below finds it, with its variables in place. */
interface Sent {
  name: string
  method: string
  url: string
  headers: Record<string, string>
  body: string | undefined
  saves: Readonly<Record<string, string>>
}

/** A reader of one format: its first variables, and its requests before variables are put in. */
interface Parsed {
  variables: Record<string, string>
  requests: readonly Sent[]
}

interface PostmanItem {
  name: string
  event?: { listen: string; script: { exec: string[] } }[]
  request: {
    method: string
    auth?: { type: string }
    header: { key: string; value: string }[]
    url: { raw: string; host: string[]; path: string[]; query?: { key: string; value: string }[] }
    body?: { mode: string; raw: string }
  }
}

interface PostmanFile {
  info: { name: string; schema: string }
  auth: { type: string; bearer: { key: string; value: string }[] }
  variable: { key: string; value: string }[]
  item: PostmanItem[]
}

const BEARER = 'Bearer {{apiKey}}'

function readPostman(text: string): Parsed {
  const { info, auth, variable, item } = JSON.parse(text) as PostmanFile
  expect(info.schema).toBe('https://schema.getpostman.com/json/collection/v2.1.0/collection.json')
  expect(auth).toMatchObject({ type: 'bearer', bearer: [{ key: 'token', value: '{{apiKey}}' }] })
  return {
    variables: Object.fromEntries(variable.map(({ key, value }) => [key, value])),
    requests: item.map(({ name, event = [], request }) => {
      const { raw, host, path, query = [] } = request.url
      const search = query.map(({ key, value }) => `${key}=${value}`).join('&')
      expect(raw).toBe(`${host.join('.')}/${path.join('/')}${search === '' ? '' : `?${search}`}`)
      const script = event.flatMap((one) => (one.listen === 'test' ? one.script.exec : []))
      return {
        name,
        method: request.method,
        url: raw,
        headers: {
          ...Object.fromEntries(request.header.map(({ key, value }) => [key.toLowerCase(), value])),
          ...(request.auth?.type === 'noauth' ? {} : { authorization: BEARER }),
        },
        body: request.body?.raw,
        saves: Object.fromEntries(
          script.map((line) => {
            const [, key = '', field = ''] =
              /^pm\.collectionVariables\.set\('(\w+)', pm\.response\.json\(\)\.(\S+)\)$/.exec(line) ?? []
            return [key, field.replaceAll('?.', '.').replace(/\.?\[(\d+)\]/g, '.$1')]
          }),
        ),
      }
    }),
  }
}

/** Blocks of a .bru file by name. A block ends with a brace at the beginning of a line. */
function blocksOf(text: string): Record<string, string> {
  return Object.fromEntries(
    Array.from(text.matchAll(/^([\w:-]+) ([{[])\n([^]*?)\n[}\]]$/gm), ([, name = '', , inner = '']) => [
      name,
      inner.replace(/^ {2}/gm, ''),
    ]),
  )
}

function pairsOf(block = ''): Record<string, string> {
  return Object.fromEntries(
    block
      .split('\n')
      .filter((line) => line !== '')
      .map((line): [string, string] => [line.split(': ', 1)[0] ?? '', line.replace(/^[^:]*: /, '')]),
  )
}

function readBruno(files: Readonly<Record<string, string>>): Parsed {
  const { 'bruno.json': manifest = '', 'environments/local.bru': environment = '', ...rest } = files
  expect(JSON.parse(manifest)).toMatchObject({ version: '1', type: 'collection' })
  const local = blocksOf(environment)
  expect(local['vars:secret']).toBe('apiKey')
  const requests = Object.values(rest).map((text) => {
    const blocks = blocksOf(text)
    const { name = '', type, seq = '' } = pairsOf(blocks.meta)
    expect(type).toBe('http')
    const method = ['get', 'post', 'put', 'delete'].find((one) => one in blocks) ?? ''
    const { url = '', body, auth } = pairsOf(blocks[method])
    expect(url.split('?')[1] ?? '').toBe(
      new URLSearchParams(pairsOf(blocks['params:query']))
        .toString()
        .replaceAll('%7B', '{')
        .replaceAll('%7D', '}'),
    )
    if (auth === 'bearer') expect(pairsOf(blocks['auth:bearer'])).toEqual({ token: '{{apiKey}}' })
    const saves = Object.entries(pairsOf(blocks['vars:post-response']))
    return {
      sequence: Number(seq),
      name,
      method: method.toUpperCase(),
      url,
      headers: {
        ...(auth === 'bearer' && { authorization: BEARER }),
        ...(body === 'json' && { 'content-type': 'application/json' }),
      },
      body: blocks['body:json'],
      saves: Object.fromEntries(
        saves.map(([key, field]) => [key, field.replace(/^res\.body\./, '').replace(/\[(\d+)\]/g, '.$1')]),
      ),
    }
  })
  return { variables: pairsOf(local.vars), requests: requests.sort((a, b) => a.sequence - b.sequence) }
}

function readHttp(text: string): Parsed {
  const [head = '', ...parts] = text.split(/^###/m)
  const variablesOf = (lines: string) =>
    Object.fromEntries(
      Array.from(lines.matchAll(/^@(\w+) = (.*)$/gm), ([, key = '', value = '']) => [key, value]),
    )
  const saved = Object.entries(variablesOf(parts.join('\n')))
  const requests = parts
    .filter((part) => /^[A-Z]+ \{\{/m.test(part))
    .map((part): Sent => {
      const lines = part.split('\n')
      const name = (lines[0] ?? '').trim()
      const [, label = ''] = /^# @name (\w+)$/m.exec(part) ?? []
      const rest = lines.slice(1).filter((line) => !line.startsWith('#'))
      const [method = '', url = ''] = (rest[0] ?? '').split(' ')
      const end = rest.indexOf('')
      const body = rest
        .slice(end + 1)
        .join('\n')
        .trim()
      const references = saved.flatMap(([key, value]) => {
        const [, from, field = ''] = /^\{\{(\w+)\.response\.body\.\$\.(\S+)\}\}$/.exec(value) ?? []
        return from === label ? [[key, field.replace(/\[(\d+)\]/g, '.$1')] as const] : []
      })
      return {
        name,
        method,
        url,
        headers: Object.fromEntries(
          rest.slice(1, end).map((line): [string, string] => {
            const [key = '', value = ''] = line.split(': ')
            return [key.toLowerCase(), value]
          }),
        ),
        body: body === '' ? undefined : body,
        saves: Object.fromEntries(references),
      }
    })
  return { variables: variablesOf(head), requests }
}

const readers = {
  bruno: (content: ReturnType<typeof collectionFiles>) => readBruno(content as Record<string, string>),
  http: (content: ReturnType<typeof collectionFiles>) => readHttp(content as string),
  postman: (content: ReturnType<typeof collectionFiles>) => readPostman(content as string),
}

const formats = ['bruno', 'http', 'postman'] as const

function fieldOf(json: unknown, path: string): string {
  const value = path.split('.').reduce<unknown>((one, name) => (one as Record<string, unknown>)[name], json)
  expect(typeof value, path).toBe('string')
  return String(value)
}

/** Sends the requests in order, and returns what each was and its status. */
async function run({ requests }: Parsed, variables: Record<string, string>) {
  const put = (text: string) =>
    text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
      expect(variables, text).toHaveProperty(name)
      return variables[name] ?? ''
    })
  const results: string[] = []
  for (const { name, method, url, headers, body, saves } of requests) {
    const ending = new AbortController()
    const response = await fetch(put(url), {
      method,
      headers: Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, put(value)])),
      body: body === undefined ? null : put(body),
      signal: ending.signal,
    })
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    const text = isStream ? '' : await response.text()
    ending.abort()
    results.push(`${name}: ${response.ok ? 'ok' : `${response.status} ${text}`}`)
    for (const [key, path] of Object.entries(saves)) variables[key] = fieldOf(JSON.parse(text), path)
  }
  return results
}

interface Operations {
  paths: Record<string, Record<string, { 'x-internal'?: true }>>
}

describe.each(formats)('the requests as %s', (format) => {
  test('succeed in order', async () => {
    const { url, apiKey } = await openSimulator()
    const receiver = await openReceiver()
    const parsed = readers[format](collectionFiles(format, await openApiDocument({ url })))
    expect(parsed.variables.baseUrl).toBe(url)
    const results = await run(parsed, { ...parsed.variables, apiKey, webhookUrl: receiver.url })
    expect(results).toEqual(parsed.requests.map(({ name }) => `${name}: ok`))
    expect(receiver.requests.length).toBeGreaterThan(2)
  })

  test('succeed in order when no receiver answers', async () => {
    const { url, apiKey } = await openSimulator()
    const parsed = readers[format](collectionFiles(format, await openApiDocument({ url })))
    const variables = { ...parsed.variables, apiKey, webhookUrl: 'https://127.0.0.1:1/' }
    const results = await run(parsed, variables)
    expect(results).toEqual(parsed.requests.map(({ name }) => `${name}: ok`))
  })

  test.each([true, false])('have every operation that is not internal (simulator: %s)', async (simulator) => {
    const document = await openApiDocument({ simulator })
    const { requests } = readers[format](collectionFiles(format, document))
    const sent = requests.map(({ method, url }) => {
      const { pathname } = new URL(url.replaceAll(/\{\{\w+\}\}/g, 'x').replace(/^x/, 'http://x'))
      return `${method} ${pathname}`
    })
    const { paths } = document as unknown as Operations
    const wanted = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([method, operation]) => method !== 'parameters' && operation['x-internal'] !== true)
        .map(([method]) => `${method.toUpperCase()} ${path}`),
    )
    const missing = wanted
      .filter((one) => / \/(v1|_sim)\//.test(one))
      .filter((one) => {
        const [before = '', after = ''] = one.split(/\{\w+\}/)
        return !sent.some(
          (path) =>
            path.startsWith(before) &&
            path.endsWith(after) &&
            path.split('/').length === one.split('/').length,
        )
      })
    expect(wanted.length).toBeGreaterThan(10)
    expect(missing).toEqual([])
    expect(simulator || !sent.some((path) => path.includes('/_sim/'))).toBe(true)
  })

  test('contain no key', async () => {
    const text = JSON.stringify(collectionFiles(format, await openApiDocument()))
    expect(text).not.toMatch(/twk_/)
    expect(text).toContain('{{apiKey}}')
  })
})
