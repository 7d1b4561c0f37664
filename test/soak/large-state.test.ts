import { createReadStream, createWriteStream } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { expect, test } from 'vitest'
import { createClient } from '../../src/client.ts'
import { stateText } from '../../src/model/simulator/record-lines.ts'
import type { State } from '../../src/model/simulator/state.ts'
import { checkBody, emptyDirectory, startService, tabwire } from '../support/cli.ts'
import { isSoak } from './seeded.ts'

const CHECKS = 300_000

/** The state of a service that was just started, with many checks. */
async function largeState(state: State): Promise<State> {
  const [sample] = state.checks
  if (sample === undefined) throw new Error('No check was pushed.')
  const checks = Array.from({ length: CHECKS }, (_, index) => ({
    ...sample,
    id: `chk_01J${String(index).padStart(23, '0')}`,
    external_id: `many-${index}`,
  }))
  return { ...state, clock: { ...state.clock, frozen: true }, checks }
}

test.skipIf(!isSoak)(
  `${CHECKS} checks are loaded and saved byte for byte, and loaded from JSON in another layout`,
  async () => {
    const cwd = await emptyDirectory()
    const service = await startService(['--in-memory'], { cwd })
    await (await service.call('PUT', '/v1/checks/external/sample', checkBody())).arrayBuffer()
    const client = createClient({ url: service.url, apiKey: service.key })
    const state = await largeState(await client.state.get())
    const [file, saved, edited] = ['large.json', 'saved.json', 'edited.json'].map((name) => join(cwd, name))
    if (file === undefined || saved === undefined || edited === undefined) throw new Error('No names.')
    await pipeline(Readable.from(stateText(state)), createWriteStream(file))
    const run = async (...args: string[]) => {
      const { code, stdout } = await tabwire([...args, '--json'], { cwd })
      expect([code, stdout.slice(0, 500)]).toEqual([0, expect.not.stringContaining('"error"')])
    }
    await run('state', 'load', '--file', file)
    await run('state', 'save', '--file', saved)
    expect(Buffer.compare(await readFile(saved), await readFile(file))).toBe(0)
    await writeFile(edited, JSON.stringify(state, null, 1))
    // A client that goes on sending may see that the connection was closed, and not why.
    await expect(client.state.put(createReadStream(edited))).rejects.toThrow(
      /134217728|EPIPE|ECONNRESET|socket/,
    )
    await run('state', 'reset')
    await run('state', 'load', '--file', edited)
    await run('state', 'save', '--file', saved)
    expect(Buffer.compare(await readFile(saved), await readFile(file))).toBe(0)
    await service.stop()
  },
  600_000,
)
