import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { copyOf, newDirectory, openStore, tidyUp } from '../store/folder.ts'
import { saveChecks, storedChecks } from '../store/records.ts'
import { callsOf, type Call } from './call-log.ts'
import { powerCuts, type Content, type Remains } from './power-loss.ts'
import { isSoak } from './seeded.ts'
import { canTrace, writeTraced } from './traced.ts'

tidyUp()

const WRITES = 14
/** States that are examined outside the soak. */
const USUAL = 40

interface Watched {
  directory: string
  before: Content
  calls: Call[]
}

let once: Promise<Watched> | undefined
const watched = () => (once ??= watch())

/** System calls of a store that writes, compacts and closes a directory with three checks. */
async function watch(): Promise<Watched> {
  const first = await newDirectory()
  await saveChecks(await openStore(first), 1, 2, 3)
  const directory = await copyOf(first)
  const before = await contentOf(directory)
  const log = join(dirname(directory), 'strace.log')
  const names = 'openat,write,pwrite64,fsync,fdatasync,ftruncate'
  const more = '?rename,?renameat,?renameat2,?unlink,?unlinkat,?link,?linkat'
  const trace = ['-y', '-xx', '-s', '100000', '-e', `trace=${names},${more}`, '-o', log]
  const written = await writeTraced(directory, WRITES, trace)
  expect(written).toEqual({ acknowledged: 3 + WRITES, closed: true })
  return { directory, before, calls: callsOf(await readFile(log, 'latin1')) }
}

async function contentOf(directory: string): Promise<Content> {
  const names = await readdir(directory)
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(directory, name))] as const)),
  )
}

/** Removes those with the same content and the same acknowledged writes as an earlier one. */
function different(all: Iterable<Remains>): Remains[] {
  const seen = new Map<string, Remains>()
  for (const remains of all) {
    const hash = createHash('sha256').update(String(remains.acknowledged))
    for (const [name, bytes] of [...remains.content].sort(([a], [b]) => (a < b ? -1 : 1)))
      hash.update(`\0${name}\0`).update(bytes)
    seen.set(hash.digest('hex'), remains)
  }
  return [...seen.values()]
}

async function materialised(content: Content): Promise<string> {
  const directory = await newDirectory()
  await mkdir(directory)
  for (const [name, bytes] of content) await writeFile(join(directory, name), bytes)
  return directory
}

describe.skipIf(!canTrace)('a store', () => {
  test(
    'has all acknowledged pushes after a power cut at any time, whatever was not synced',
    async () => {
      const { directory, before, calls } = await watched()
      const all = different(powerCuts(directory, before, calls))
      expect(all.length).toBeGreaterThan(USUAL)
      const every = isSoak ? 1 : Math.ceil(all.length / USUAL)
      for (const { content, acknowledged, when } of all.filter((_, index) => index % every === 0)) {
        const place = await materialised(content)
        const store = await openStore(place)
        const stored = await storedChecks(store)
        await store.close()
        const known = Math.max(acknowledged, 3)
        const fair = [known, known + 1].map((count) => Array.from({ length: count }, (_, index) => index + 1))
        expect(fair, when).toContainEqual(stored)
        await rm(dirname(place), { recursive: true })
      }
    },
    isSoak ? 300_000 : 30_000,
  )

  test('syncs a snapshot, then renames it, then syncs the directory, and only then removes the journal', async () => {
    const { directory, calls } = await watched()
    const steps = calls.flatMap(stepsIn(directory))
    const renamed = steps.flatMap((step, index) => (step.startsWith('rename db.json.tmp') ? [index] : []))
    expect(renamed.length).toBeGreaterThanOrEqual(2)
    for (const place of renamed) {
      const written = steps.lastIndexOf('write db.json.tmp', place)
      expect(steps.slice(written, place)).toContain('sync db.json.tmp')
      const left = steps.findIndex((step, index) => index > place && /^(remove|cut) journal/.test(step))
      expect(steps.slice(place, left)).toContain('sync .')
    }
    expect(steps.filter((step) => /^(remove|cut) journal/.test(step)).length).toBeGreaterThanOrEqual(
      renamed.length,
    )
  })

  test('acknowledges no write that is not on the disk', async () => {
    const { directory, calls } = await watched()
    const isJournal = (path: string) => path === join(directory, 'journal.ndjson')
    let [written, durable, acknowledged] = [0, 0, 0]
    let endsDurably = false
    for (const { name, args, strings, file } of calls) {
      if (name === 'openat' && isJournal(String(strings[0]))) endsDurably = args.includes('O_DSYNC')
      if (name === 'pwrite64' && isJournal(file)) written += String(strings[0]).split('\n').length - 1
      if (isJournal(file) && (name === 'fdatasync' || (name === 'pwrite64' && endsDurably))) durable = written
      if (name !== 'write' || !args.startsWith('1<') || !(Number(strings[0]) > 0)) continue
      acknowledged += 1
      expect(durable).toBeGreaterThanOrEqual(acknowledged)
    }
    expect(acknowledged).toBe(WRITES)
  })
})

/** Describes the effect of a call on the files of a directory. */
function stepsIn(directory: string) {
  const shown = (path: string) =>
    path === directory ? '.' : basename(path).replace(/^db\.json\.[0-9a-f]{8}\.tmp$/, 'db.json.tmp')
  return ({ name, file, strings, args }: Call): string[] => {
    const [from = ''] = strings.map(String)
    const path = /^(rename|unlink)/.test(name) ? from : file
    if (path !== directory && dirname(path) !== directory) return []
    if (/^p?write/.test(name)) return [`write ${shown(path)}`]
    if (name.endsWith('sync')) return [`sync ${shown(path)}`]
    if (name.startsWith('rename')) return [`rename ${shown(path)}`]
    if (name.startsWith('unlink')) return [`remove ${shown(path)}`]
    return name === 'ftruncate' && args.endsWith(', 0') ? [`cut ${shown(path)}`] : []
  }
}
