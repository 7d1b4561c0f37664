import { constants } from 'node:fs'
import { appendFile, mkdir, open, readFile, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { prepareDirectory } from '../../src/store/disk.ts'
import { repair } from '../../src/store/doctor/doctor.ts'
import { failingDisk } from './failing-disk.ts'
import { copyOf, newDirectory, openStore, tidyUp } from './folder.ts'
import { recordDisk, type DiskCall } from './recorded-disk.ts'
import { saveChecks, storedChecks } from './records.ts'

tidyUp()

/** Without this flag, as on Windows, each write is followed by a sync. */
const { O_DSYNC } = constants as { O_DSYNC?: number }
/** Windows syncs a directory by itself, and only so. */
const syncsDirectories = process.platform !== 'win32'

const isJournal = ({ path }: DiskCall) => path.endsWith('journal.ndjson')

/** Calls in words, such as `sync db.json.tmp`, without those of other directories; this one is `.`. */
function stepsIn(directory: string, calls: readonly DiskCall[]): string[] {
  return calls.flatMap(({ does, path, size }) => {
    if (path === directory) return [`${does} .`]
    if (dirname(path) !== directory) return []
    const name = basename(path).replace(/\.[0-9a-f]{8}\.tmp$/, '.tmp')
    return [`${does === 'truncate' ? `cut to ${size}` : does} ${name}`]
  })
}

describe.runIf(syncsDirectories)('a new directory', () => {
  it('has its entry synced in its parent, and so has each new parent', async () => {
    const above = dirname(await newDirectory())
    const calls = recordDisk()
    await prepareDirectory(join(above, 'a', 'b', '.tabwire'))
    const synced = calls.filter(({ does }) => does === 'sync').map(({ path }) => path)
    expect(synced).toEqual([join(above, 'a', 'b'), join(above, 'a'), above])
  })

  it('has its entry synced in an existing parent, which itself is not synced', async () => {
    const directory = await newDirectory()
    const calls = recordDisk()
    await prepareDirectory(directory)
    await prepareDirectory(directory)
    const synced = calls.filter(({ does }) => does === 'sync').map(({ path }) => path)
    expect(synced).toEqual([dirname(directory)])
  })
})

describe('an acknowledged write', () => {
  it.runIf(O_DSYNC !== undefined)(
    'completes when it is on the disk: its journal is opened with O_DSYNC',
    async () => {
      const directory = await newDirectory()
      const calls = recordDisk()
      const store = await openStore(directory, { compactAtBytes: 1 })
      for (const number of [1, 2, 3]) await saveChecks(store, number)
      const opened = calls.filter((call) => call.does === 'open' && isJournal(call))
      expect(opened.length).toBeGreaterThanOrEqual(2) // Folding goes on in a new one.
      for (const { flags } of opened) expect(Number(flags) & Number(O_DSYNC)).toBe(O_DSYNC)
    },
  )

  it('is synced before its response where O_DSYNC is missing', async () => {
    const directory = await newDirectory()
    const calls = recordDisk()
    const store = await openStore(directory, { openFile: open })
    for (const number of [1, 2, 3]) {
      calls.length = 0
      await saveChecks(store, number)
      expect(calls.filter(isJournal).map(({ does }) => does)).toEqual(['write', 'sync'])
    }
  })

  it.runIf(syncsDirectories)('is in a journal whose name is on the disk', async () => {
    const directory = await newDirectory()
    const calls = recordDisk()
    await saveChecks(await openStore(directory), 1)
    const steps = stepsIn(directory, calls)
    const made = steps.indexOf('open journal.ndjson')
    const written = steps.indexOf('write journal.ndjson')
    expect(made).toBeGreaterThanOrEqual(0)
    expect(steps.slice(made, written)).toContain('sync .')
  })
})

describe('a snapshot', () => {
  it('is synced, then renamed, then its directory is synced, and only then its journal is removed', async () => {
    const directory = await newDirectory()
    const calls = recordDisk()
    const store = await openStore(directory, { compactAtBytes: 1 })
    for (const number of [1, 2, 3]) await saveChecks(store, number)
    await store.close()
    const steps = stepsIn(directory, calls)
    const renamed = steps.flatMap((step, index) => (step === 'rename db.json.tmp' ? [index] : []))
    expect(renamed.length).toBeGreaterThanOrEqual(2)
    for (const place of renamed) {
      const written = steps.lastIndexOf('write db.json.tmp', place)
      expect(written).toBeGreaterThanOrEqual(0)
      expect(steps.slice(written, place)).toContain('sync db.json.tmp')
      const gone = steps.findIndex(
        (step, index) => index > place && /^(remove journal|cut to 0 journal)/.test(step),
      )
      expect(gone).toBeGreaterThan(place)
      if (syncsDirectories) expect(steps.slice(place, gone)).toContain('sync .')
    }
  })

  it('is written under a temporary name and renamed, never in place', async () => {
    const directory = await newDirectory()
    const calls = recordDisk()
    const store = await openStore(directory)
    await saveChecks(store, 1)
    await store.close()
    expect(stepsIn(directory, calls)).not.toContain('write db.json')
  })
})

describe('bytes that are cut off a journal', () => {
  it('of a failed write are removed from the disk before the next acknowledgement', async () => {
    const directory = await newDirectory()
    const disk = failingDisk()
    const store = await openStore(directory, { openFile: disk.openFile })
    await saveChecks(store, 1)
    const steps: string[] = []
    let failing = true
    disk.bytesBeforeFailure = 10
    disk.fails = (step, path) => {
      // The bytes that get through ask, too.
      if (path.endsWith('journal.ndjson') && steps.at(-1) !== step) steps.push(step)
      return failing && step === 'write'
    }
    await expect(saveChecks(store, 2)).rejects.toMatchObject({ code: 'storage_unavailable' })
    failing = false
    await saveChecks(store, 3)
    expect(steps).toEqual(['write', 'truncate', 'datasync', 'write', 'datasync'])
    expect(await storedChecks(await openStore(await copyOf(directory)))).toEqual([1, 3])
  })

  it('of a torn last line are removed from the disk before a start writes', async () => {
    const first = await newDirectory()
    await saveChecks(await openStore(first), 1)
    const directory = await copyOf(first)
    const journal = join(directory, 'journal.ndjson')
    const good = await readFile(journal)
    await appendFile(journal, good.subarray(0, good.length >> 1))
    const calls = recordDisk()
    await saveChecks(await openStore(directory), 2)
    const all = stepsIn(directory, calls)
    const steps = all.filter((step) => step.endsWith(' journal.ndjson'))
    expect(steps.slice(0, 4)).toEqual([
      'open journal.ndjson',
      `cut to ${good.length} journal.ndjson`,
      'sync journal.ndjson',
      'write journal.ndjson',
    ])
    const saved = all.slice(all.indexOf('write journal.ndjson.torn-1'), all.indexOf('open journal.ndjson'))
    expect(saved).toContain('sync journal.ndjson.torn-1')
    if (syncsDirectories) expect(saved).toContain('sync .')
  })

  it('of a torn old journal are removed from the disk before a start writes', async () => {
    const first = await newDirectory()
    await saveChecks(await openStore(first), 1)
    const directory = await copyOf(first)
    const old = join(directory, 'journal.old.ndjson')
    await rename(join(directory, 'journal.ndjson'), old)
    const good = await readFile(old)
    await appendFile(old, good.subarray(0, good.length >> 1))
    const calls = recordDisk()
    await saveChecks(await openStore(directory), 2)
    const steps = stepsIn(directory, calls)
    const cut = steps.indexOf(`cut to ${good.length} journal.old.ndjson`)
    expect(cut).toBeGreaterThanOrEqual(0)
    expect(steps.slice(cut, steps.indexOf('open journal.ndjson'))).toContain('sync journal.old.ndjson')
  })
})

describe('a repair', () => {
  it('syncs each new file and name before its next step', async () => {
    const first = await newDirectory()
    await saveChecks(await openStore(first), 1)
    const directory = await copyOf(first)
    await appendFile(join(directory, 'journal.ndjson'), 'rubbish\n{}\n')
    await mkdir(join(directory, 'kept'))
    const calls = recordDisk()
    const { repaired } = await repair(directory)
    expect(repaired.length).toBeGreaterThan(0)
    const steps = stepsIn(directory, calls)
    const renamed = steps.indexOf('rename db.json.tmp')
    expect(steps.slice(steps.indexOf('write db.json.tmp'), renamed)).toContain('sync db.json.tmp')
    if (syncsDirectories) expect(steps.slice(renamed)).toContain('sync .')
  })
})
