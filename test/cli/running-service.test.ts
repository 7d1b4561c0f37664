import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  isTabwire,
  isTakenOver,
  isThisMachine,
  runningService,
  runsHere,
} from '../../src/cli/running-service.ts'
import { type Run, writeRun } from '../../src/data-directory.ts'
import { emptyDirectory } from '../support/cli.ts'

const url = 'http://127.0.0.1:4100'

/** A data directory whose `run.json` names this process as the service at {@link url}. */
async function directoryOf(changes: Partial<Run> = {}): Promise<string> {
  const directory = await emptyDirectory()
  const started_at = new Date().toISOString()
  await writeRun(directory, { url, pid: process.pid, hostname: hostname(), started_at, ...changes })
  return directory
}

describe('a service runs on this machine and data directory', () => {
  test.each(['http://127.0.0.1:4100', 'http://localhost:4100', 'http://[::1]:4100'])(
    'when it is called as %s',
    async (called) => {
      for (const own of [url, 'http://0.0.0.0:4100'])
        expect(await runsHere(await directoryOf({ url: own }), called)).toBe(true)
    },
  )

  test.each<[string, Partial<Run>]>([
    ['a container, whose pids mean nothing here', { hostname: 'container', url: 'http://0.0.0.0:4100' }],
    ['a process that has ended', { pid: 2 ** 22 + 1 }],
    ['a service on another port', { url: 'http://127.0.0.1:4101' }],
    ['a service on HTTPS', { url: 'https://127.0.0.1:4100' }],
    ['another machine', { url: 'http://pos.example:4100' }],
  ])('unless run.json names %s', async (_, changes) => {
    expect(await runsHere(await directoryOf(changes), url)).toBe(false)
  })

  test('unless it is called on another machine, or the directory has no run.json', async () => {
    expect(await runsHere(await directoryOf(), 'http://pos.example:4100')).toBe(false)
    expect(await runsHere(await emptyDirectory(), url)).toBe(false)
  })
})

/** Pid of no process. */
const ended = 2 ** 22 + 1

/** A server that answers every request so; returns its URL. */
async function serve(status: number, headers: Record<string, string> = {}): Promise<string> {
  const server = createServer((_request, response) => response.writeHead(status, headers).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('the service of run.json', () => {
  test('is one that answers and whose process runs', async () => {
    const own = await serve(200, { 'x-request-id': 'req_1' })
    expect(await runningService(await directoryOf({ url: own }))).toEqual({ url: own, pid: process.pid })
    expect(await runningService(await directoryOf({ url: own, pid: ended }))).toBeUndefined()
    expect(await runningService(await directoryOf({ url: await serve(200) }))).toBeUndefined()
    expect(await runningService(await emptyDirectory())).toBeUndefined()
  })

  test.each([
    [200, { 'x-request-id': 'req_1' }, true],
    [404, { 'x-request-id': 'req_1' }, false],
    [200, {}, false],
  ] as const)('was replaced by another program when that answers %i with %j', async (status, headers, is) => {
    const other = await serve(status, headers)
    const run = { url: other, pid: ended, hostname: hostname(), started_at: new Date().toISOString() }
    expect(await isTabwire(other)).toBe(is)
    expect(await isTakenOver(run)).toBe(!is)
    expect(await isTakenOver({ ...run, pid: process.pid })).toBe(false)
    expect(await isTakenOver({ ...run, hostname: 'container' })).toBe(false)
  })
})

test.each([
  ['localhost', true],
  ['LocalHost', true],
  ['127.1.2.3', true],
  ['[::1]', true],
  [hostname().toUpperCase(), true],
  ...Object.values(networkInterfaces()).flatMap((own) =>
    (own ?? []).map(({ address }): [string, boolean] => [address.toUpperCase(), true]),
  ),
  ['x127.0.0.1', false],
  ['127.0.0.1.example', false],
  ['pos.example', false],
])('the host %s is this machine: %s', (host, is) => {
  expect(isThisMachine(host)).toBe(is)
})
