import { open } from 'node:fs/promises'
import type { OpenFile } from '../../src/store/disk.ts'

type Step = 'open' | 'write' | 'datasync' | 'truncate'

/** The real disk, which fails where `fails` says so, and counts its syncs. */
export function failingDisk() {
  const disk = {
    syncs: 0,
    /** Which step of which file fails, by the end of its name. */
    fails: (_step: Step, _path: string): boolean => false,
    /** Of a write that fails, this many bytes get through first. */
    bytesBeforeFailure: 0,
    openFile: (async (path, flags, mode) => {
      const check = (step: Step) => {
        if (disk.fails(step, path)) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
      }
      check('open')
      const file = await open(path, flags, mode)
      return {
        async write(bytes, offset, length, position) {
          if (disk.fails('write', path) && disk.bytesBeforeFailure > 0)
            await file.write(bytes, offset, Math.min(length, disk.bytesBeforeFailure), position)
          check('write')
          return file.write(bytes, offset, Math.min(length, 1000), position) // Takes less than it is given.
        },
        async datasync() {
          check('datasync')
          disk.syncs += 1
          await file.datasync()
        },
        async truncate(size) {
          check('truncate')
          await file.truncate(size)
        },
        close: () => file.close(),
      }
    }) satisfies OpenFile as OpenFile,
  }
  return disk
}
