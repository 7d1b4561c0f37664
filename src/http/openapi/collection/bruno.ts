import type { Collection, CollectionRequest } from './requests.ts'

/** Returns the files of a Bruno collection, by path: `bruno.json`, an environment and a file for each request. */
export function brunoFiles({ title, requests, variables }: Collection): Readonly<Record<string, string>> {
  const manifest = { version: '1', name: title, type: 'collection', ignore: ['node_modules', '.git'] }
  return {
    'bruno.json': `${JSON.stringify(manifest, null, 2)}\n`,
    'environments/local.bru': `${block('vars', pairs(variables))}vars:secret [\n  apiKey\n]\n`,
    ...Object.fromEntries(
      requests.map((request, index) => [fileOf(request, index + 1), textOf(request, index + 1)]),
    ),
  }
}

function fileOf({ name }: CollectionRequest, sequence: number): string {
  const words =
    name
      .toLowerCase()
      .replaceAll("'", '')
      .match(/[a-z0-9]+/g) ?? []
  return `${String(sequence).padStart(2, '0')}-${words.join('-')}.bru`
}

function textOf(request: CollectionRequest, sequence: number): string {
  const { name, description, method, path, query, needsKey, body, saves } = request
  const parameters = Object.entries(query)
  const search = parameters.map(([key, value]) => `${key}=${value}`).join('&')
  const url = `{{baseUrl}}${path}${search === '' ? '' : `?${search}`}`
  const fields = Object.fromEntries(
    Object.entries(saves).map(([key, field]) => [key, `res.body.${field.replace(/\.(\d+)/g, '[$1]')}`]),
  )
  return [
    block('meta', pairs({ name, type: 'http', seq: String(sequence) })),
    block(
      method.toLowerCase(),
      pairs({ url, body: body === undefined ? 'none' : 'json', auth: needsKey ? 'bearer' : 'none' }),
    ),
    ...(parameters.length > 0 ? [block('params:query', pairs(query))] : []),
    ...(needsKey ? [block('auth:bearer', pairs({ token: '{{apiKey}}' }))] : []),
    ...(body === undefined ? [] : [block('body:json', JSON.stringify(body, null, 2).split('\n'))]),
    ...(Object.keys(saves).length > 0 ? [block('vars:post-response', pairs(fields))] : []),
    ...(description === '' ? [] : [block('docs', description.split('\n'))]),
  ]
    .join('\n')
    .trimEnd()
    .concat('\n')
}

function pairs(fields: Readonly<Record<string, string>>): string[] {
  return Object.entries(fields).map(([key, value]) => `${key}: ${value}`)
}

function block(name: string, lines: readonly string[]): string {
  return `${name} {\n${lines.map((line) => `  ${line}`.trimEnd()).join('\n')}\n}\n`
}
