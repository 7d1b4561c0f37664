import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { isSoak } from '../soak/seeded.ts'
import { emptyDirectory, spawnProcess } from '../support/cli.ts'

interface Left {
  heap: number
  resources: string[]
  listeners: [name: string, count: number][]
}

const count = isSoak ? 100 : 60

/** By how much the heap may have grown from the 20th to the last; eighty that are not closed make it 1.65, forty 1.33. */
const FLAT = 1.2

test(`${count} simulators that were used and closed leave no handle, timer, listener or file, and memory stays flat`, async () => {
  const [cwd, temporary] = [await emptyDirectory(), await emptyDirectory()]
  const script = fileURLToPath(new URL('hundred.mjs', import.meta.url))
  const options = { cwd, env: { TMPDIR: temporary } }
  const { ended } = await spawnProcess(process.execPath, ['--expose-gc', script, String(count)], options)
  // It ends by itself, since nothing keeps it.
  const { code, stdout, stderr } = await ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const { before, twentieth, last } = JSON.parse(stdout) as Record<'before' | 'twentieth' | 'last', Left>
  expect(last.resources).toEqual(before.resources)
  expect(last.listeners).toEqual(before.listeners)
  expect(last.heap / twentieth.heap).toBeLessThan(FLAT)
  expect([...(await readdir(cwd)), ...(await readdir(temporary))]).toEqual([])
})
