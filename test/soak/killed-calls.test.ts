import { cp } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { copyOf, newDirectory, openStore, tidyUp } from '../store/folder.ts'
import { saveChecks, storedChecks } from '../store/records.ts'
import { isSoak } from './seeded.ts'
import { canTrace, writeTraced } from './traced.ts'

tidyUp()

/** System calls of a store that writes. Names differ between machines; `?` skips missing ones. */
const calls: Readonly<Record<string, { names: string; usual: readonly number[] }>> = {
  'a write of a line': { names: '?pwrite64', usual: [4] },
  'a write of a whole file': { names: '?write', usual: [] },
  'a sync of data': { names: '?fdatasync', usual: [] },
  'a sync of the directory': { names: '?fsync', usual: [] },
  'a renaming': { names: '?rename,?renameat,?renameat2', usual: [2] },
  'a removal': { names: '?unlink,?unlinkat', usual: [] },
  'a cut': { names: '?ftruncate', usual: [] },
  'a link': { names: '?link,?linkat', usual: [] },
  'a socket that shows who has the directory': { names: '?bind,?connect,?chmod', usual: [] },
  'a new directory': { names: '?mkdir,?mkdirat', usual: [] },
  'an opened file': { names: '?openat', usual: [] },
}
const WRITES = 12

/** A directory with three checks, as a process that was killed has left it. */
async function leftOpen(): Promise<string> {
  const directory = await newDirectory()
  await saveChecks(await openStore(directory), 1, 2, 3)
  return copyOf(directory)
}

/** Has the writer's n-th such call fail, or kill it; says how it ended. */
async function disturbed(before: string, names: string, n: number | string, how: string) {
  const directory = await newDirectory()
  await cp(before, directory, { recursive: true })
  const inject = ['-e', `trace=${names}`, '-e', `inject=${names}:${how}:when=${n}`, '-o', '/dev/null']
  return { directory, written: await writeTraced(directory, WRITES, inject) }
}

describe.skipIf(!canTrace)('a store whose process is killed at', () => {
  test.each(Object.entries(calls).filter(([, { usual }]) => isSoak || usual.length > 0))(
    '%s has all acknowledged pushes, and starts without repair',
    async (_what, { names, usual }) => {
      const before = await leftOpen()
      let points = 0
      for (let n = isSoak ? 1 : (usual[0] ?? 1); ; n += 1) {
        const { directory, written } = await disturbed(before, names, n, 'signal=SIGKILL')
        if (written.closed) break
        points += 1
        const store = await openStore(directory)
        const stored = await storedChecks(store)
        const known = Math.max(written.acknowledged, 3)
        expect([n, stored]).toEqual([n, Array.from({ length: stored.length }, (_, index) => index + 1)])
        expect([n, stored.length - known]).toEqual([n, stored.length > known ? 1 : 0])
        await saveChecks(store, stored.length + 1)
        await store.close()
        if (!isSoak && points >= usual.length) break
      }
      expect(points).toBeGreaterThan(0)
    },
    isSoak ? 600_000 : 20_000,
  )
})

describe.skipIf(!canTrace)('a store whose snapshot another program holds open', () => {
  test('waits until the program closes it', async () => {
    const before = await leftOpen()
    // The first renaming is the journal's, the next five tries are the snapshot's.
    const { directory, written } = await disturbed(before, '?rename,?renameat', '2..6', 'error=EPERM')
    expect(written).toEqual({ acknowledged: 3 + WRITES, closed: true })
    expect(await storedChecks(await openStore(directory))).toHaveLength(3 + WRITES)
  })
})
