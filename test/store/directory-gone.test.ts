import { rmSync } from 'node:fs'
import { appendFile, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import { runChild } from './child.ts'
import { failingDisk } from './failing-disk.ts'
import { newDirectory, openStore, tidyUp } from './folder.ts'
import { check, encodeLine, idOf, saveChecks, storedChecks } from './records.ts'

tidyUp()

const gone = {
  code: 'storage_unavailable',
  message:
    'Nothing was changed, because the disk could not be written: the data directory was deleted, moved or replaced while the service ran. Restore the directory, or restart the service, then send the request again.',
}

/** Opens the directory and stays until it is killed. */
const opener = `
import { openFileStore } from './store/file-store.js'
const store = await openFileStore({ directory: process.argv[1] })
console.log('open')
// Node ends a process that drops an open file.
setInterval(() => store, 1000)`

async function openWithChecks(): Promise<{ store: Store; directory: string; notices: string[] }> {
  const directory = await newDirectory()
  const notices: string[] = []
  const store = await openStore(directory, { onNotice: (notice) => notices.push(notice) })
  await saveChecks(store, 1, 2)
  return { store, directory, notices }
}

describe.skipIf(process.platform === 'win32')('a data directory', () => {
  it('that is a link to a missing target is refused with that reason', async () => {
    const directory = await newDirectory()
    await symlink(`${directory}-missing`, directory)
    await expect(openStore(directory)).rejects.toThrow('or a link to a missing target (EEXIST)')
  })

  it('that is deleted under its store accepts no further transaction, and is not created again', async () => {
    const { store, directory, notices } = await openWithChecks()
    await rm(directory, { recursive: true })
    await expect(saveChecks(store, 3)).rejects.toMatchObject(gone)
    await expect(saveChecks(store, 3)).rejects.toMatchObject(gone)
    expect(await storedChecks(store)).toEqual([1, 2])
    expect(await store.get('checks', idOf('chk', 2))).toEqual(check(2))
    await store.close()
    expect(await readdir(dirname(directory))).toEqual([])
    expect(notices).toEqual([
      'Cannot compact the journal into the snapshot: the data directory was deleted, moved or replaced while the service ran. Nothing was created or changed.',
    ])
  })

  it('without its journal accepts no further transaction', async () => {
    const { store, directory } = await openWithChecks()
    await rm(join(directory, 'journal.ndjson'))
    await expect(saveChecks(store, 3)).rejects.toMatchObject(gone)
    await store.close()
    expect(await readdir(directory)).not.toContain('db.json')
  })

  it('that is deleted while a transaction is written does not acknowledge it', async () => {
    const directory = await newDirectory()
    const disk = failingDisk()
    const store = await openStore(directory, { openFile: disk.openFile })
    disk.fails = (step) => {
      if (step === 'datasync') rmSync(directory, { recursive: true, force: true })
      return false
    }
    await expect(saveChecks(store, 1)).rejects.toMatchObject(gone)
  })

  it('that is moved away and back continues, without refused transactions', async () => {
    const { store, directory } = await openWithChecks()
    await rename(directory, `${directory}-away`)
    await expect(saveChecks(store, 3)).rejects.toMatchObject(gone)
    await rename(`${directory}-away`, directory)
    await saveChecks(store, 4)
    await store.close()
    expect(await storedChecks(await openStore(directory))).toEqual([1, 2, 4])
  })

  it('that is moved stays locked at its new place until its store is closed', async () => {
    const { store, directory } = await openWithChecks()
    const moved = `${directory}-moved`
    await rename(directory, moved)
    await expect(openStore(moved)).rejects.toThrow(/is in use by this process/)
    await store.close()
    const child = runChild(opener, moved)
    expect(await child.line()).toBe('open')
    await child.kill()
    expect(await storedChecks(await openStore(moved))).toEqual([1, 2])
  })

  it('whose path another store takes over belongs to the other store', async () => {
    const { store, directory } = await openWithChecks()
    await rm(directory, { recursive: true })
    const other = await openStore(directory)
    await saveChecks(other, 7)
    await expect(saveChecks(store, 3)).rejects.toMatchObject(gone)
    const before = await contentOf(directory)
    await store.close()
    expect(await contentOf(directory)).toEqual(before)
    await expect(openStore(directory)).rejects.toThrow(/is in use by this process/)
    await saveChecks(other, 8)
    await other.close()
    expect(await storedChecks(await openStore(directory))).toEqual([7, 8])
  })

  it('that a process on another machine took over is not changed', async () => {
    const { store, directory, notices } = await openWithChecks()
    const taken =
      /: another process took over the data directory\. Stop one of the two, restart the other, then send/
    await writeFile(join(directory, 'lock.2'), '{}')
    await rm(join(directory, 'lock.1'))
    await appendFile(join(directory, 'journal.ndjson'), encodeLine(3, '[]'))
    const before = await contentOf(directory)
    await expect(saveChecks(store, 3)).rejects.toThrow(taken)
    await expect(store.replace((all) => all)).rejects.toThrow(taken)
    await store.close()
    expect(await contentOf(directory)).toEqual(before)
    expect(notices).toEqual([
      'Cannot compact the journal into the snapshot: another process took over the data directory. Nothing was created or changed.',
    ])
  })

  it.each([
    ['is not made again', false],
    ['changes nothing in the one that is made in its place', true],
  ])('that is deleted while the journal is compacted %s', async (_, isCreatedAgain) => {
    const directory = await newDirectory()
    const disk = failingDisk()
    const deleted = new Promise<void>((resolve) => {
      disk.fails = (step, path) => {
        if (step !== 'datasync' || !path.endsWith('.tmp')) return false
        rmSync(directory, { recursive: true, force: true })
        resolve()
        return false
      }
    })
    const store = await openStore(directory, { compactAtBytes: 1000, openFile: disk.openFile })
    for (let number = 1; number <= 10; number += 1) await saveChecks(store, number).catch(() => {})
    await deleted
    if (isCreatedAgain) await mkdir(directory)
    await store.close()
    expect(await readdir(dirname(directory))).toEqual(isCreatedAgain ? ['.tabwire'] : [])
    if (isCreatedAgain) expect(await readdir(directory)).toEqual([])
  })
})

/** The files of records and locks, with what is in them. */
async function contentOf(directory: string): Promise<string[][]> {
  const names = (await readdir(directory)).filter((name) => !name.endsWith('.sock')).sort()
  return Promise.all(names.map(async (name) => [name, await readFile(join(directory, name), 'latin1')]))
}
