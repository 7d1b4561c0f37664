import { describe, expect, it } from 'vitest'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StoreDamaged } from '../../src/store/errors.ts'
import { copyOf, newDirectory, openStore, tidyUp } from './folder.ts'
import { saveChecks, storedChecks } from './records.ts'

tidyUp()

const numbers = [1, 2, 3]

/** A directory with three checks in it, in the journal, or folded into the snapshot. */
async function filled(
  file: 'journal.ndjson' | 'db.json',
): Promise<{ directory: string; path: string; bytes: Buffer }> {
  const directory = await newDirectory()
  const store = await openStore(directory)
  await saveChecks(store, ...numbers)
  if (file === 'db.json') await store.close()
  const copy = await copyOf(directory)
  const path = join(copy, file)
  return { directory: copy, path, bytes: await readFile(path) }
}

/** What the store holds, or the message with which it refuses to open. */
async function opened(directory: string, notices: string[] = []): Promise<number[] | string> {
  try {
    const store = await openStore(directory, { onNotice: (notice) => notices.push(notice), foldAtBytes: 1e9 })
    const stored = await storedChecks(store)
    await store.close()
    return stored
  } catch (error) {
    if (error instanceof StoreDamaged) return error.message
    throw error
  }
}

describe('a last line that was not written to its end', () => {
  it('is left out with a notice, wherever it breaks off', async () => {
    const { directory, path, bytes } = await filled('journal.ndjson')
    const lastLine = bytes.lastIndexOf('\n', bytes.length - 2) + 1
    for (let end = lastLine; end <= bytes.length; end += 1) {
      const copy = await copyOf(directory)
      await writeFile(join(copy, 'journal.ndjson'), bytes.subarray(0, end))
      const notices: string[] = []
      const whole = end >= bytes.length - 1 // The line break alone may be missing.
      expect(await opened(copy, notices)).toEqual(whole ? [1, 2, 3] : [1, 2])
      expect(notices).toHaveLength(whole || end === lastLine ? 0 : 1)
      expect(await opened(copy)).toEqual(whole ? [1, 2, 3] : [1, 2])
    }
    expect(path).toContain('journal')
  })

  it('makes room for what is written next', async () => {
    const { directory, path, bytes } = await filled('journal.ndjson')
    for (const end of [bytes.length - 1, bytes.length - 20]) {
      await writeFile(path, bytes.subarray(0, end))
      const store = await openStore(directory)
      await saveChecks(store, 9)
      expect(await opened(await copyOf(directory))).toContain(9)
      await store.close()
      await writeFile(join(directory, 'db.json'), '{"format":1}')
    }
  })
})

describe('a flipped bit', () => {
  it.each(['journal.ndjson', 'db.json'] as const)(
    'in %s loses nothing, or is named',
    async (file) => {
      const { directory, path, bytes } = await filled(file)
      const random = seeded(20_260_101)
      for (let round = 0; round < 300; round += 1) {
        const damaged = Buffer.from(bytes)
        const place = round < 8 ? bytes.length - 1 : Math.floor(random() * bytes.length)
        damaged[place] = (damaged[place] ?? 0) ^ (1 << (round < 8 ? round : Math.floor(random() * 8)))
        await writeFile(path, damaged)
        const result = await opened(directory)
        if (typeof result === 'string') expect(result).toContain(`.tabwire/${file}`)
        else expect(result).toEqual(numbers)
        expect(await readFile(path)).toEqual(damaged)
      }
    },
    60_000,
  )

  it('in the last line break of the journal is not taken for a line that breaks off', async () => {
    const { directory, path, bytes } = await filled('journal.ndjson')
    for (let bit = 0; bit < 8; bit += 1) {
      await writeFile(path, Buffer.concat([bytes.subarray(0, -1), Buffer.from([0x0a ^ (1 << bit)])]))
      expect(await opened(directory)).toContain('.tabwire/journal.ndjson line 3 is damaged')
    }
  })
})

describe('a journal', () => {
  it('with a line missing is refused', async () => {
    const { directory, path, bytes } = await filled('journal.ndjson')
    const lines = bytes.toString().split('\n')
    await writeFile(path, [lines[0], lines[2], ''].join('\n'))
    expect(await opened(directory)).toMatch(/journal\.ndjson line 2 .*transaction 3 where 2 should follow/)
    await writeFile(path, [lines[1], lines[2], ''].join('\n'))
    expect(await opened(directory)).toMatch(/journal\.ndjson line 1 .*transaction 2 where 1 should follow/)
  })

  it('keeps what comes before the damage when the rest is deleted, as the message says', async () => {
    const { directory, path, bytes } = await filled('journal.ndjson')
    const [first, , third] = bytes.toString().split('\n')
    await writeFile(path, [first, 'rubbish', third, ''].join('\n'))
    expect(await opened(directory)).toMatch(/line 2 is damaged.*delete this line and all that follow/)
    await writeFile(path, `${first}\n`)
    expect(await opened(directory)).toEqual([1])
  })
})

describe('a snapshot', () => {
  it('that was edited is refused, and accepted once its checksum line is deleted', async () => {
    const { directory, path, bytes } = await filled('db.json')
    const text = bytes.toString().replaceAll('POS-2', 'POS-X')
    await writeFile(path, text)
    const message = await opened(directory)
    const line = Number(/delete line (\d+)/.exec(String(message))?.[1])
    const lines = text.split('\n')
    expect(lines[line - 1]).toContain('"checksum"')
    await writeFile(path, lines.toSpliced(line - 1, 1).join('\n'))
    const store = await openStore(directory)
    expect(await store.find('checks', 'external', 'loc_1/POS-X')).toHaveLength(1)
  })

  it('that was laid out anew is an edited one', async () => {
    const { directory, path, bytes } = await filled('db.json')
    await writeFile(path, JSON.stringify(JSON.parse(bytes.toString()), null, 4))
    expect(await opened(directory)).toMatch(/the checksum in line \d+ does not match/)
  })

  it('may be a fixture with no more than what it needs', async () => {
    const { directory, path } = await filled('db.json')
    await writeFile(path, '{ "format": 1, "checks": [] }')
    expect(await opened(directory)).toEqual([])
  })

  it.each([
    ['begins with a byte order mark', '\ufeff{"format":1}', /byte order mark/],
    ['is empty', '', /db\.json.* is damaged: it is not JSON/],
    ['is cut off', '{\n"format": 1,\n"checks": [', /db\.json.* is damaged: it is not JSON/],
    [
      'names its line',
      '{\n  "format": 1,\n  "checks": [\n    {"id": nope}\n  ]\n}',
      /db\.json line 4 is damaged/,
    ],
    ['is a list', '[]', /not a JSON object/],
    ['is of another program', '{"posts":[]}', /its "format" is undefined, not 1/],
    ['is of a later version', '{"format":2}', /its "format" is 2, not 1/],
    ['has a strange collection', '{"format":1,"waiters":[]}', /"waiters" is no collection/],
    ['has no list', '{"format":1,"checks":{}}', /"checks" is not an array/],
    [
      'has a record without id',
      '{"format":1,"checks":[{"id":"a"},{}]}',
      /checks\[1\] is not an object with an "id"/,
    ],
    ['has an id twice', '{"format":1,"events":[{"id":"a"},{"id":"a"}]}', /two of its events have the "id" a/],
    ['has a strange number', '{"format":1,"sequence":-1}', /"sequence" is not a whole number/],
  ])('that %s is refused by name', async (_, text, message) => {
    const { directory, path } = await filled('db.json')
    await writeFile(path, text)
    const result = await opened(directory)
    expect(result).toMatch(message)
    expect(result).toContain('.tabwire/db.json')
  })
})

/** Mulberry32: the same places on every run. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
