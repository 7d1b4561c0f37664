import { writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { readProfile } from '../../../src/cli/conformance/profile.ts'
import { checkContract } from '../../../src/conformance/contract/check.ts'
import { fillBody, fillPath, profileSchema } from '../../../src/conformance/contract/profile.ts'
import { contractCases } from '../../../src/conformance/contract/run.ts'
import { emptyDirectory } from '../../support/cli.ts'
import { openHttpServer } from '../../support/http-server.ts'
import { openSimulator } from '../../support/simulator.ts'
import { named, receiverTls } from './examine.ts'

async function saved(content: unknown): Promise<string> {
  const file = join(await emptyDirectory(), 'profile.json')
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

describe('a profile', () => {
  test('has a published schema', async () => {
    const schema = {
      title: 'A profile for tabwire contract check',
      ...z.toJSONSchema(profileSchema, { io: 'input' }),
    }
    await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(
      '../../../fixtures/contract-profile.schema.json',
    )
  })

  test('takes keys from the environment', async () => {
    vi.stubEnv('ACME_PUSH_KEY', 'k-1')
    const file = await saved({ keys: { push: { env: 'ACME_PUSH_KEY' }, write: 'k-2' }, order_by: 'version' })
    expect(await readProfile(file)).toEqual({
      profile: { order_by: 'version' },
      keys: { read: undefined, push: 'k-1', write: 'k-2' },
    })
    vi.unstubAllEnvs()
    await expect(readProfile(file)).rejects.toThrow('the environment variable ACME_PUSH_KEY is not set')
  })

  test('may start with a byte-order mark, as PowerShell 5 writes it', async () => {
    const { profile } = await readProfile(await saved('\ufeff{"order_by":"version"}'))
    expect(profile).toEqual({ order_by: 'version' })
  })

  test.each([
    ['{', 'is not valid JSON'],
    [{ claim: { path: 'guests' } }, 'claim.path'],
    [{ claim: { path: 'http://' } }, 'claim.path'],
    [{ clock: { path: 'https://[::1/clock' } }, 'clock.path: is not a URL'],
    [{ paths: { delete_endpoint: 'webhook-endpoints/{id}' } }, 'paths.delete_endpoint'],
    [{ ordering: 'version' }, 'ordering'],
  ])('is refused: %j', async (content, why) => {
    const refused = await readProfile(await saved(content)).catch((error: unknown) => error)
    expect(refused).toMatchObject({ exitCode: 2 })
    expect(String(refused)).toContain(why)
  })
})

test('placeholders in paths and bodies are replaced', () => {
  expect(fillPath('{origin}/x/{id}?{other}', { origin: 'http://a:1', id: 'a/b' })).toBe(
    'http://a:1/x/a%2Fb?{other}',
  )
  expect(
    fillBody({ by: '{seconds}', text: '{seconds}s', list: ['{id}', 1, null] }, { seconds: 60, id: 'x' }),
  ).toEqual({
    by: 60,
    text: '60s',
    list: ['x', 1, null],
  })
})

test("Tabwire below a path of a proxy is checked with Tabwire's own profile", async () => {
  const simulator = await openSimulator()
  const { url } = await openHttpServer((incoming, response) => {
    const { method, headers, url: path = '' } = incoming
    const below = /^\/tabwire(\/.*)$/.exec(path)?.[1]
    if (below === undefined) return void response.writeHead(404).end('<h1>Not found</h1>')
    const forwarded = request(simulator.url + below, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    incoming.pipe(forwarded)
  })
  const { report, left } = await checkContract({
    baseUrl: `${url}/tabwire/v1`,
    apiKey: simulator.apiKey,
    tls: await receiverTls(),
    cases: contractCases.filter(({ group }) => group === 'access' || group === 'conflicts'),
  })
  expect(named(report, 'not_checked')).toEqual([])
  expect(named(report, 'failed')).toEqual([])
  expect(left).toBe(0)
})
