import { constants } from 'node:buffer'
import { describe, expect, it } from 'vitest'
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { put } from '../../src/model/records.ts'
import { checkUp, repair } from '../../src/store/doctor/doctor.ts'
import { salvage } from '../../src/store/doctor/salvage.ts'
import { StoreDamaged } from '../../src/store/errors.ts'
import { parseSnapshot } from '../../src/store/snapshot/parse.ts'
import { copyOf, newDirectory, openStore, tidyUp } from './folder.ts'
import { check, encodeLine, save, saveChecks, storedChecks } from './records.ts'
import { expectMode } from '../support/file-mode.ts'

tidyUp()

const location = {
  id: 'loc_1',
  name: 'Bar',
  timezone: 'UTC',
  currency: 'EUR',
  created_at: '2026-01-01T12:00:00.000Z',
}

interface Files {
  'db.json'?: string
  'journal.ndjson'?: string
  'journal.old.ndjson'?: string
}

/** A location and checks 1 to 3 in the snapshot (transactions 1 to 4), then checks 4 to 6 in the journal. */
async function filled(): Promise<{ directory: string; files: Required<Omit<Files, 'journal.old.ndjson'>> }> {
  const first = await newDirectory()
  const store = await openStore(first)
  await save(store, put('locations', location))
  await saveChecks(store, 1, 2, 3)
  await store.close()
  await saveChecks(await openStore(first), 4, 5, 6)
  const directory = await copyOf(first)
  const read = (name: string) => readFile(join(directory, name), 'utf8')
  return {
    directory,
    files: { 'db.json': await read('db.json'), 'journal.ndjson': await read('journal.ndjson') },
  }
}

async function write(directory: string, files: Files): Promise<void> {
  for (const [name, text] of Object.entries(files) as [string, string][])
    await writeFile(join(directory, name), text, { mode: 0o600 })
}

/** Returns every file with its content. */
async function contentOf(directory: string): Promise<Record<string, string>> {
  const names = (await readdir(directory)).filter((name) => !name.endsWith('.sock')).sort()
  const texts = names.map(async (name) => [name, await readFile(join(directory, name), 'latin1')] as const)
  return Object.fromEntries(await Promise.all(texts))
}

async function kept(directory: string): Promise<number[]> {
  const store = await openStore(directory)
  const stored = await storedChecks(store)
  await store.close()
  return stored
}

const withoutLine = (text: string, line: number) =>
  text
    .split('\n')
    .toSpliced(line - 1, 1)
    .join('\n')
const withLine = (text: string, line: number, instead: string) =>
  text
    .split('\n')
    .toSpliced(line - 1, 1, instead)
    .join('\n')
const flipped = (text: string, part: string) => text.replace(part, part.replace('POS', 'PAS'))

type Damage = (files: { 'db.json': string; 'journal.ndjson': string }) => Files
const damages: [what: string, damage: Damage, bad: string[], kept: number[], told: RegExp][] = [
  [
    'rubbish between two lines of the journal',
    (files) => ({ 'journal.ndjson': withLine(files['journal.ndjson'], 2, '!!!') }),
    ['journal.ndjson'],
    [1, 2, 3, 4],
    /journal\.ndjson: 1 transaction kept\. 2 lines could not be kept \(from line 2\).*journal\.ndjson\.damaged-1/,
  ],
  [
    'a flipped bit in the first line of the journal',
    (files) => ({ 'journal.ndjson': flipped(files['journal.ndjson'], 'POS-4') }),
    ['journal.ndjson'],
    [1, 2, 3],
    /0 transactions kept\. 3 lines could not be kept \(from line 1\)/,
  ],
  [
    'a missing line in the journal',
    (files) => ({ 'journal.ndjson': withoutLine(files['journal.ndjson'], 2) }),
    ['journal.ndjson'],
    [1, 2, 3, 4],
    /1 transaction kept\. 1 line could not be kept \(from line 2\)/,
  ],
  [
    'a damaged line that the snapshot holds anyway',
    (files) => ({ 'journal.ndjson': `!!!\n${files['journal.ndjson']}` }),
    ['journal.ndjson'],
    [1, 2, 3, 4, 5, 6],
    /3 transactions kept\. 1 line could not be kept/,
  ],
  [
    'an old journal that breaks off before the present one',
    (files) => {
      const [first = '', second = '', third = ''] = files['journal.ndjson'].split('\n')
      return { 'journal.old.ndjson': `${first}\n${second.slice(0, 90)}`, 'journal.ndjson': `${third}\n` }
    },
    ['journal.old.ndjson', 'journal.ndjson'],
    [1, 2, 3, 4],
    /journal\.old\.ndjson: 1 transaction kept/,
  ],
  [
    'a flipped bit in the snapshot',
    (files) => ({ 'db.json': flipped(files['db.json'], 'POS-2') }),
    ['db.json'],
    [1, 2, 3, 4, 5, 6],
    /rebuilt from 4 records, without losses/,
  ],
  [
    'the name of a list of the snapshot',
    (files) => ({ 'db.json': files['db.json'].replace('"checks"', '"chacks"') }),
    ['db.json'],
    [4, 5, 6],
    /rebuilt from 1 record, 3 records? could not be read|could not be read/,
  ],
  [
    'the line that begins a list of the snapshot',
    (files) => ({ 'db.json': files['db.json'].replace('"checks": [', '"checks": {') }),
    ['db.json'],
    [4, 5, 6],
    /could not be read/,
  ],
  [
    'a record of the snapshot that does not parse',
    (files) => ({ 'db.json': files['db.json'].replace('{"id":"chk_00000000000000000000000002"', '{"id""') }),
    ['db.json'],
    [1, 3, 4, 5, 6],
    /rebuilt from 3 records, 1 line could not be read \(from line \d+\)/,
  ],
  [
    'another number in the snapshot',
    (files) => ({ 'db.json': files['db.json'].replace('"sequence": 4', '"sequence": 94') }),
    ['db.json'],
    [1, 2, 3, 4, 5, 6],
    /rebuilt from 4 records/,
  ],
  [
    'a snapshot that is cut off',
    (files) => ({
      'db.json': files['db.json'].slice(0, files['db.json'].indexOf('chk_00000000000000000000000003')),
    }),
    ['db.json'],
    [1, 2, 4, 5, 6],
    /rebuilt from 3 records/,
  ],
  [
    'an empty snapshot',
    () => ({ 'db.json': '' }),
    ['db.json', 'journal.ndjson'],
    [],
    /the next start begins with an empty store\. The original file is db\.json\.damaged-1/,
  ],
  [
    'a snapshot of zeros beside a journal that holds everything',
    () => ({
      'db.json': '\0'.repeat(64),
      'journal.ndjson': encodeLine(1, JSON.stringify([put('checks', check(7))])).toString(),
    }),
    ['db.json'],
    [7],
    /the journals contain all data/,
  ],
  [
    'a snapshot that was written by hand, beside the journal of all that came after it',
    () => ({
      'db.json': [
        `{\n"format": 1,\n"locations": [\n${JSON.stringify(location)}\n],\n"checks": [`,
        [1, 2, 3].map((number) => JSON.stringify(check(number))).join(',\n'),
        ']\n}\n',
      ]
        .join('\n')
        .replace('{"id":"chk_00000000000000000000000002"', '{"id""'),
      'journal.ndjson': encodeLine(1, JSON.stringify([put('checks', check(4))])).toString(),
    }),
    ['db.json'],
    [1, 3, 4],
    /rebuilt from 3 records, 1 line could not be read \(from line 8\)/,
  ],
  [
    'both damaged',
    (files) => ({
      'db.json': flipped(files['db.json'], 'POS-2'),
      'journal.ndjson': flipped(files['journal.ndjson'], 'POS-5'),
    }),
    ['db.json', 'journal.ndjson'],
    [1, 2, 3, 4],
    /1 transaction kept[^]*rebuilt from 4 records/,
  ],
]

describe.each(damages)('%s', (_, damage, bad, numbers, told) => {
  it('is reported, and repaired without deleting anything', async () => {
    const { directory, files } = await filled()
    await write(directory, damage(files))
    const before = await contentOf(directory)

    const found = await checkUp(directory)
    expect(found.checks.filter(({ level }) => level === 'bad').map(({ check: name }) => name)).toEqual(bad)
    expect(found.ok).toBe(false)
    expect(await contentOf(directory)).toEqual(before)

    const { ok, repaired } = await repair(directory)
    expect(ok).toBe(true)
    expect(repaired.join('\n')).toMatch(told)
    const after = await contentOf(directory)
    for (const [name, text] of Object.entries(before))
      expect([after[name], after[`${name}.damaged-1`]]).toContain(text)
    for (const name of Object.keys(after)) await expectMode(join(directory, name), 0o600)

    expect(await repair(directory)).toMatchObject({ ok: true, repaired: [] })
    expect(await contentOf(directory)).toEqual(after)
    expect(await kept(directory)).toEqual(numbers)
  })
})

describe('a snapshot that is too long for a string', () => {
  const begin = ['{', '"format": 1,', '"locations": [', `${JSON.stringify(location)},`, ''].join('\n')
  const long = Buffer.alloc(begin.length + constants.MAX_STRING_LENGTH + 1)
  long.write(begin)

  it('is damaged when it has no checksum', () => {
    const read = () => parseSnapshot(long, { path: 'db.json', shown: '.tabwire/db.json' })
    expect(read).toThrow(StoreDamaged)
    expect(read).toThrow(
      /^\.tabwire\/db\.json is not a snapshot of Tabwire: without a checksum, it can have at most \d+ bytes\./,
    )
  })

  it('is salvaged line by line, without a line that is too long itself', () => {
    const { kept, lost, firstLost, records } = salvage(long)
    expect({ kept, lost, firstLost, records }).toEqual({
      kept: 1,
      lost: 1,
      firstLost: 5,
      records: { locations: [location] },
    })
  })
})

describe('a repair', () => {
  it('overwrites no file that an earlier repair moved aside', async () => {
    const { directory, files } = await filled()
    for (const rubbish of ['one', 'two']) {
      await write(directory, { 'journal.ndjson': `${rubbish}\n${files['journal.ndjson']}` })
      await repair(directory)
    }
    const read = (name: string) => readFile(join(directory, name), 'utf8')
    expect(await read('journal.ndjson.damaged-1')).toMatch(/^one/)
    expect(await read('journal.ndjson.damaged-2')).toMatch(/^two/)
  })

  it('replaces a missing journal with an empty one, and explains the consequence', async () => {
    const { directory } = await filled()
    await rm(join(directory, 'journal.ndjson'))
    await writeFile(join(directory, 'lock.1'), JSON.stringify({ pid: 2 ** 22 + 1, started: '1' }))
    expect((await checkUp(directory)).ok).toBe(false)
    const { ok, repaired } = await repair(directory)
    expect([ok, repaired]).toEqual([true, [expect.stringContaining('Writes after transaction 4 are lost')]])
    expect(await kept(directory)).toEqual([1, 2, 3])
  })

  it.skipIf(process.platform === 'win32')(
    'makes files with secrets readable by their owner only',
    async () => {
      const { directory } = await filled()
      await mkdir(join(directory, 'ca'), { mode: 0o755 })
      await writeFile(join(directory, 'ca', 'ca-key.pem'), '', { mode: 0o644 })
      await writeFile(join(directory, 'ca', 'ca.pem'), '')
      await chmod(join(directory, 'ca', 'ca.pem'), 0o644)
      await chmod(join(directory, 'db.json'), 0o640)
      await chmod(directory, 0o755)
      const found = await checkUp(directory)
      expect(found.ok).toBe(true)
      expect(found.checks.find(({ check: name }) => name === 'modes')?.message).toContain('db.json (0640)')
      await repair(directory)
      const modes = ['.', 'db.json', 'ca', 'ca/ca-key.pem', 'ca/ca.pem'].map(
        async (name) => (await stat(join(directory, name))).mode & 0o777,
      )
      expect(await Promise.all(modes)).toEqual([0o700, 0o600, 0o700, 0o600, 0o644])
      expect((await repair(directory)).repaired).toEqual([])
      // Others may pass through, as in the container image, but read no names.
      await chmod(directory, 0o711)
      expect((await checkUp(directory)).checks.find(({ check: name }) => name === 'modes')?.level).toBe(
        'good',
      )
    },
  )

  it.skipIf(process.platform === 'win32')('changes no modes of files that are not of Tabwire', async () => {
    const { directory } = await filled()
    await mkdir(join(directory, 'hooks'), { mode: 0o755 })
    const modes = { hooks: 0o755, 'hooks/notify.sh': 0o755, 'notes.txt': 0o644, 'listen.sh': 0o755 }
    for (const name of ['hooks/notify.sh', 'notes.txt', 'listen.sh'])
      await writeFile(join(directory, name), '')
    for (const [name, mode] of Object.entries(modes)) await chmod(join(directory, name), mode)
    expect((await checkUp(directory)).checks.find(({ check: name }) => name === 'modes')?.level).toBe('good')
    await chmod(join(directory, 'db.json'), 0o755)
    expect((await repair(directory)).repaired).toHaveLength(1)
    const after = Object.keys({ ...modes, 'db.json': 0 }).map(async (name) => [
      name,
      (await stat(join(directory, name))).mode & 0o777,
    ])
    expect(Object.fromEntries(await Promise.all(after))).toEqual({ ...modes, 'db.json': 0o600 })
  })

  it('changes no file of a newer version', async () => {
    const { directory, files } = await filled()
    const newer: Files[] = [
      { 'db.json': files['db.json'].replace('"format": 1', '"format": 2') },
      { 'db.json': '{"format":2,"everything":{"else":true},"checksum":"x"}' },
      {
        'db.json': files['db.json'],
        'journal.ndjson':
          files['journal.ndjson'] + encodeLine(8, '[{"collection":"tips","remove":"tip_1"}]').toString(),
      },
      {
        'db.json': files['db.json'],
        'journal.ndjson': `${files['journal.ndjson']}{"format":2,"else":"x"}\n`,
      },
    ]
    for (const each of newer) {
      await write(directory, each)
      const before = await contentOf(directory)
      const result = await repair(directory)
      expect(result).toMatchObject({ ok: false, repaired: [], repairable: [] })
      expect(await contentOf(directory)).toEqual(before)
    }
  })

  it('changes nothing while a service runs, and reads readable files', async () => {
    const { directory, files } = await filled()
    const store = await openStore(directory)
    await saveChecks(store, 7)
    await write(directory, { 'db.json': `${files['db.json']}x` })
    const before = await contentOf(directory)
    const { ok, checks, repaired } = await repair(directory)
    expect([ok, repaired]).toEqual([false, []])
    expect(checks.find(({ check: name }) => name === 'lock')?.message).toContain(`(pid ${process.pid})`)
    expect(checks.find(({ check: name }) => name === 'journal.ndjson')?.message).toContain(
      '4 transactions (5–8)',
    )
    expect(await contentOf(directory)).toEqual(before)
    await write(directory, { 'db.json': files['db.json'] })
  })

  it('leaves intact files, torn tails and stray files alone: a start handles those', async () => {
    const { directory, files } = await filled()
    await write(directory, { 'journal.ndjson': files['journal.ndjson'].slice(0, -9) })
    await writeFile(join(directory, 'db.json.0123abcd.tmp'), '{', { mode: 0o600 })
    const before = await contentOf(directory)
    const { ok, checks, repaired } = await repair(directory)
    expect([ok, repaired]).toEqual([true, []])
    const notes = checks.filter(({ level }) => level === 'note').map(({ check: name }) => name)
    expect(notes).toEqual(['credentials.json', 'journal.ndjson', 'temporary files'])
    expect(await contentOf(directory)).toEqual(before)
  })

  it('does not move aside a credentials.json that cannot be read, which a start refuses', async () => {
    const { directory } = await filled()
    await mkdir(join(directory, 'credentials.json'), { mode: 0o700 })
    const { ok, checks, repaired } = await repair(directory)
    expect([ok, repaired]).toEqual([false, []])
    expect(checks.find(({ check: name }) => name === 'credentials.json')).toEqual({
      check: 'credentials.json',
      level: 'bad',
      message: 'Cannot read credentials.json: it is a directory, not a file (EISDIR).',
    })
  })

  it('is not advised for a missing db.json before it was restored', async () => {
    const { directory, files } = await filled()
    await rm(join(directory, 'db.json'))
    const { ok, checks } = await checkUp(directory)
    expect(ok).toBe(false)
    expect(checks.find(({ check: name }) => name === 'db.json')).toEqual({
      check: 'db.json',
      level: 'bad',
      message:
        'db.json is missing: the journal begins with transaction 5. Restore db.json before a repair, which would keep none of the journal.',
    })
    await write(directory, { 'db.json': files['db.json'] })
    expect((await checkUp(directory)).ok).toBe(true)
    expect(await kept(directory)).toEqual([1, 2, 3, 4, 5, 6])
  })

  it.each(['two words', '', 7])(
    'moves credentials aside whose key a start would replace: %j',
    async (api_key) => {
      const { directory } = await filled()
      await writeFile(join(directory, 'credentials.json'), JSON.stringify({ api_key }), { mode: 0o600 })
      expect((await repair(directory)).repaired).toEqual([
        'credentials.json contained no API key and was moved to credentials.json.damaged-1. The next start creates a new key.',
      ])
    },
  )

  it.each([
    ['of nothing', async () => undefined, true, 'There is no .tabwire yet'],
    ['of a file', (path: string) => writeFile(path, ''), false, 'it is a file, not a directory'],
  ])('%s changes nothing and explains why', async (_, make, ok, message) => {
    const directory = await newDirectory()
    await make(directory)
    for (const look of [checkUp, repair]) {
      const result = await look(directory)
      expect(result).toMatchObject({ ok, repaired: [] })
      expect(result.checks[0]?.message).toContain(message)
    }
  })
})
