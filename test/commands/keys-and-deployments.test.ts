import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { sampled } from '../soak/seeded.ts'
import { checkBody, emptyDirectory, serve, tabwire, type RunningService } from '../support/cli.ts'

/** Every command that talks to a service, as it is typed, and what of the service it cannot be without. */
const commands: Record<string, { args: string[]; needs: 'the API' | 'the simulator'; readOnly?: true }> = {
  locations: { args: [], needs: 'the API', readOnly: true },
  open: { args: ['--print'], needs: 'the simulator' },
  ping: { args: ['ENDPOINT'], needs: 'the API' },
  push: { args: ['check.json'], needs: 'the API' },
  'push --from-log': { args: [], needs: 'the simulator' },
  qr: { args: ['12'], needs: 'the simulator' },
  'requests list': { args: [], needs: 'the simulator' },
  'requests show': { args: ['req_1'], needs: 'the simulator' },
  report: { args: [], needs: 'the simulator' },
  'report --since 10m': { args: [], needs: 'the simulator' },
  tail: { args: [], needs: 'the simulator' },
  'tail --no-reconnect': { args: [], needs: 'the simulator' },
  listen: { args: ['--forward-to', '3000'], needs: 'the simulator' },
  trigger: { args: ['check.created'], needs: 'the simulator' },
  verify: { args: ['--secret', 's', '--delivery', 'dlv_1'], needs: 'the simulator' },
  'checks list': { args: [], needs: 'the API', readOnly: true },
  'checks show': { args: ['kept'], needs: 'the API', readOnly: true },
  'clock advance': { args: ['1s'], needs: 'the simulator' },
  'clock freeze': { args: [], needs: 'the simulator' },
  'clock show': { args: [], needs: 'the simulator' },
  'deliveries export': { args: ['dlv_1'], needs: 'the simulator' },
  'deliveries list': { args: [], needs: 'the simulator' },
  'deliveries resend': { args: ['dlv_1'], needs: 'the simulator' },
  'deliveries resend --dead': { args: [], needs: 'the simulator' },
  'deliveries show': { args: ['dlv_1'], needs: 'the simulator' },
  'deliveries wait': { args: [], needs: 'the simulator' },
  'deliveries wait --timeout 0': { args: [], needs: 'the simulator' },
  'events list': { args: [], needs: 'the simulator' },
  'events show': { args: ['evt_1'], needs: 'the simulator' },
  'faults set': { args: ['drop'], needs: 'the simulator' },
  'faults show': { args: [], needs: 'the simulator' },
  'faults clear': { args: [], needs: 'the simulator' },
  'guests claim': { args: ['kept'], needs: 'the simulator' },
  'guests pay': { args: ['kept'], needs: 'the simulator' },
  'guests play': { args: ['--until-paid'], needs: 'the simulator' },
  'guests rate': { args: ['kept', '5'], needs: 'the simulator' },
  'guests refund': { args: ['pay_1'], needs: 'the simulator' },
  'guests release': { args: ['clm_1'], needs: 'the simulator' },
  'keys create': { args: [], needs: 'the simulator' },
  'keys list': { args: [], needs: 'the simulator' },
  'keys revoke': { args: ['key_1'], needs: 'the simulator' },
  'endpoints create': { args: ['https://127.0.0.1:1/', '--events', 'all'], needs: 'the API' },
  'endpoints delete': { args: ['ENDPOINT'], needs: 'the simulator' },
  'endpoints list': { args: [], needs: 'the API', readOnly: true },
  'endpoints show': { args: ['ENDPOINT'], needs: 'the API', readOnly: true },
  'scenario run': { args: ['walk-out'], needs: 'the simulator' },
  'scenario run --forward-to 3000': { args: ['walk-out'], needs: 'the simulator' },
  'state load': { args: ['--file', 'state.json'], needs: 'the simulator' },
  'state reset': { args: [], needs: 'the simulator' },
  'state save': { args: ['--file', '-'], needs: 'the simulator' },
}
const all = Object.entries(commands).map(([name, command]) => ({ name, ...command }))
/** Commands of this suite; outside the soak, some of them. */
const samples = {
  withUnknownKey: sampled(all, 3),
  withReadOnlyKey: sampled(
    all.filter(({ readOnly }) => readOnly !== true),
    3,
  ),
  needingSimulator: sampled(
    all.filter(({ needs }) => needs === 'the simulator'),
    3,
  ),
}

let service: RunningService
let deployment: Server
let endpoint: string
let readKey: string
let cwd: string
beforeAll(async () => {
  service = await serve()
  await service.call('PUT', '/v1/checks/external/kept', checkBody())
  const body = { url: 'https://127.0.0.1:1/', event_types: ['check.closed'] }
  const made = (await (await service.call('POST', '/v1/webhook-endpoints', body)).json()) as { id: string }
  endpoint = made.id
  const key = await service.json<{ api_key: string }>('keys', 'create', '--scopes', 'read')
  readKey = key.api_key
  deployment = await openDeployment(service.url)
  cwd = await emptyDirectory()
  await writeFile(join(cwd, 'check.json'), JSON.stringify(checkBody()))
  await writeFile(join(cwd, 'state.json'), '{}')
  return async () => {
    deployment.close()
    await service.stop()
  }
})

/** A service with `/v1` alone: that of a simulator, and by default 404 for all other paths. */
async function openDeployment(
  behind: string,
  otherwise = { status: 404, text: '<h1>Not found</h1>' },
): Promise<Server> {
  const server = createServer((request, response) => {
    const answer = request.url?.startsWith('/v1/') === true ? passOn(request, behind) : otherwise
    void Promise.resolve(answer).then(({ status, text }) => response.writeHead(status).end(text))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return server
}

async function passOn(request: IncomingMessage, behind: string): Promise<{ status: number; text: string }> {
  const { method = 'GET', url = '/', headers } = request
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const answer = await fetch(behind + url, {
    method,
    headers: {
      authorization: headers.authorization ?? '',
      ...(chunks.length > 0 && { 'content-type': 'application/json' }),
    },
    body: chunks.length > 0 ? Buffer.concat(chunks) : null,
  })
  return { status: answer.status, text: await answer.text() }
}

function run(name: string, args: readonly string[], url: string, key: string) {
  const words = [...name.split(' '), ...args].map((word) => (word === 'ENDPOINT' ? endpoint : word))
  return tabwire([...words, '--url', url, '--api-key', key], { cwd })
}

test('the tested commands are all commands that call a service', () => {
  const manifest = JSON.parse(
    readFileSync(new URL('../../oclif.manifest.json', import.meta.url), 'utf8'),
  ) as {
    commands: Record<string, { id: string; flags: object; hidden?: boolean }>
  }
  const talking = Object.values(manifest.commands)
    .filter(({ flags, hidden }) => 'api-key' in flags && 'url' in flags && hidden !== true)
    .map(({ id }) => id.replaceAll(':', ' '))
    // Judges take addresses and keys of their own; `mcp` passes refusals on to its client (test/mcp).
    .filter((name) => !/^(contract |receiver |mcp$)/.test(name))
  expect(Object.keys(commands).filter((name) => !name.includes(' --'))).toEqual(
    expect.arrayContaining(talking),
  )
})

describe.concurrent('a command exits with 4 for a refused key:', () => {
  test.each(samples.withUnknownKey)('$name, with an unknown key', async ({ name, args }) => {
    const { code, stderr } = await run(name, args, service.url, 'twk_unknown')
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: expect.stringContaining('The API key is unknown or was revoked.') as string,
    })
    expect(stderr).toContain('--api-key')
  })

  test.each(samples.withReadOnlyKey)('$name, with a read-only key', async ({ name, args }) => {
    const { code, stderr } = await run(name, args, service.url, readKey)
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: expect.stringMatching(/This request needs an API key with scope (write|simulate)/) as string,
    })
  })
})

describe.concurrent('on a deployment without /_sim', () => {
  const url = (server = deployment) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  test.each(samples.needingSimulator)(
    '$name exits with 1 and says that it needs the simulator',
    async ({ name, args }) => {
      const { code, stdout, stderr } = await run(name, args, url(), service.key)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toContain(
        `Error: This command needs the Tabwire simulator: ${url()} has no /_sim controls.\n`,
      )
    },
  )

  test.each(all.filter(({ needs }) => needs === 'the API'))('$name works', async ({ name, args }) => {
    const { code, stderr } = await run(name, args, url(), service.key)
    // Nothing listens at the endpoint that is pinged.
    expect({ code, stderr }).toEqual({
      code: name === 'ping' ? 1 : 0,
      stderr: expect.not.stringContaining('Error:') as string,
    })
  })

  test('report --json prints an error with the code no_simulator', async () => {
    const { stdout } = await run('report', ['--json'], url(), service.key)
    expect(JSON.parse(stdout)).toEqual({
      error: {
        code: 'no_simulator',
        message: `This command needs the Tabwire simulator: ${url()} has no /_sim controls.`,
      },
    })
  })

  test.each([
    ['404', undefined],
    ['a page', { status: 200, text: '<h1>Welcome</h1>' }],
  ])('ping finds an endpoint by its URL, when other paths get %s', async (_what, otherwise) => {
    const server = await openDeployment(service.url, otherwise)
    const { code, stdout } = await run('ping', ['https://127.0.0.1:1/', '--json'], url(server), service.key)
    expect({ code, ...(JSON.parse(stdout) as object) }).toMatchObject({
      code: 1,
      outcome: 'connection_refused',
    })
    server.close()
  })

  test('requests show says that it needs the simulator, when the 404 has the code not_found', async () => {
    const text = JSON.stringify({ error: { code: 'not_found', message: 'No such path.' } })
    const server = await openDeployment(service.url, { status: 404, text })
    const { code, stderr } = await run('requests show', ['req_1'], url(server), service.key)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `Error: This command needs the Tabwire simulator: ${url(server)} has no /_sim controls.\n`,
    })
    server.close()
  })

  test('trigger and scenario run push nothing', async () => {
    const before = await service.json<{ data: unknown[] }>('checks', 'list')
    await run('trigger', ['check.closed'], url(), service.key)
    await run('scenario', ['run', 'walk-out'], url(), service.key)
    expect(await service.json('checks', 'list')).toEqual(before)
  })
})

test('deliveries show on a simulator still reports an unknown delivery', async () => {
  const { code, stderr } = await run('deliveries show', ['dlv_1'], service.url, service.key)
  expect(code).toBe(1)
  expect(stderr).toContain('No delivery with this id')
})
