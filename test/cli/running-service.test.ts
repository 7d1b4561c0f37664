import { hostname } from 'node:os'
import { describe, expect, test } from 'vitest'
import { runsHere } from '../../src/cli/running-service.ts'
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
