import { spawnSync } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { holderIn } from '../../src/store/lock.ts'
import { isSoak } from '../soak/seeded.ts'
import { runChildWithin } from './child.ts'
import { newDirectory, openStore, tidyUp } from './folder.ts'
import { storedChecks } from './records.ts'

tidyUp()

/** A pid namespace, like a container's: process ids start at 1. */
const CONTAINER = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child=SIGKILL'] as const
const [program, ...flags] = CONTAINER
const isAvailable =
  process.platform === 'linux' && spawnSync(program, [...flags, 'true'], { stdio: 'ignore' }).status === 0

/** For each input line: opens the directory, writes a check on success, and prints the result. */
const service = `
import { createInterface } from 'node:readline'
import { openFileStore } from './store/file-store.js'
const [directory, number] = process.argv.slice(1)
const id = 'chk_' + number.padStart(26, '0')
const open = async () => {
  const store = await openFileStore({ directory })
  await store.transact({}, () => ({ writes: [{ collection: 'checks', put: { id, external_id: id, location_id: 'l' } }] }))
  return 'acknowledged'
}
for await (const line of createInterface({ input: process.stdin }))
  console.log(await open().catch((error) => error.name + ': ' + error.message))`

function inContainer(directory: string, number: number) {
  const child = runChildWithin(CONTAINER, service, directory, String(number))
  return {
    kill: child.kill,
    open(): Promise<string | undefined> {
      child.tell('open')
      return child.line()
    },
  }
}

const IN_USE =
  'DirectoryInUse: .tabwire is in use by a process in another container (pid 1 there). Stop that process, or choose another directory.'

describe.skipIf(!isAvailable)(
  'two services on one directory, each in a pid namespace of its own (needs root)',
  () => {
    it.each([
      ['a usual path', '.tabwire', isSoak ? 20 : 5],
      ['a path that is longer than the address of a socket may be', join('x'.repeat(100), '.tabwire'), 3],
    ])(
      'at %s exclude each other, and the second starts once the first is killed',
      async (_, path, rounds) => {
        const directory = join(await newDirectory(), path)
        await mkdir(join(directory, '..'), { recursive: true })
        let first = inContainer(directory, 1)
        expect(await first.open()).toBe('acknowledged')
        for (let round = 2; round <= rounds + 1; round += 1) {
          const second = inContainer(directory, round)
          expect([round, await second.open()]).toEqual([round, IN_USE])
          await first.kill()
          expect([round, await second.open()]).toEqual([round, 'acknowledged'])
          first = second
        }
        await first.kill()
        const stored = await storedChecks(await openStore(directory))
        expect(stored).toEqual(Array.from({ length: rounds + 1 }, (_unused, index) => index + 1))
      },
    )

    it('opens for exactly one of ten processes that find the lock of a killed one', async () => {
      const directory = await newDirectory()
      const killed = inContainer(directory, 1)
      expect(await killed.open()).toBe('acknowledged')
      await killed.kill()
      const many = Array.from({ length: 10 }, (_, index) => inContainer(directory, 2 + index))
      const results = await Promise.all(many.map((child) => child.open()))
      expect(results.filter((result) => result === 'acknowledged')).toHaveLength(1)
      expect(results.filter((result) => result?.startsWith('DirectoryInUse: '))).toHaveLength(9)
      await Promise.all(many.map((child) => child.kill()))
    })

    it('are also reported to a process outside, such as doctor', async () => {
      const directory = await newDirectory()
      const holder = inContainer(directory, 1)
      expect(await holder.open()).toBe('acknowledged')
      await expect(openStore(directory)).rejects.toThrow('a process in another container (pid 1 there)')
      expect(await holderIn(directory)).toMatchObject({ pid: 1 })
      await holder.kill()
      expect(await holderIn(directory)).toBeUndefined()
    })
  },
)
