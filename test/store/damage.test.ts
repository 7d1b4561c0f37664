import { describe, expect, it } from 'vitest'
import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { withFile } from '../../src/store/disk.ts'
import { StoreDamaged } from '../../src/store/errors.ts'
import { replay } from '../../src/store/journal/replay.ts'
import { copyOf, newDirectory, openStore, tidyUp } from './folder.ts'
import { isSoak, seeded } from '../soak/seeded.ts'
import { put } from '../../src/model/records.ts'
import { hex } from '../../src/store/journal/line.ts'
import { check, encodeLine, saveChecks, storedChecks } from './records.ts'
import { expectMode } from '../support/file-mode.ts'

tidyUp()

const numbers = [1, 2, 3]

/** A directory with three checks in it, in the journal, or compacted into the snapshot. */
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

/** Returns the content of the store, or the message of its refusal to open. */
async function opened(directory: string, notices: string[] = []): Promise<number[] | string> {
  try {
    const store = await openStore(directory, {
      onNotice: (notice) => notices.push(notice),
      compactAtBytes: 1e9,
    })
    const stored = await storedChecks(store)
    await store.close()
    return stored
  } catch (error) {
    if (error instanceof StoreDamaged) return error.message
    throw error
  }
}

describe('a torn last line', () => {
  it('is dropped and saved aside, wherever it ends', async () => {
    const { directory, bytes } = await filled('journal.ndjson')
    const lastLine = bytes.lastIndexOf('\n', bytes.length - 2) + 1
    const ends = [0, 1, 12, 40, 60, 200].map((offset) => lastLine + offset)
    for (const end of [...ends, bytes.length - 2, bytes.length - 1, bytes.length]) {
      const copy = await copyOf(directory)
      await writeFile(join(copy, 'journal.ndjson'), bytes.subarray(0, end))
      const notices: string[] = []
      const whole = end >= bytes.length - 1 // The line break alone may be missing.
      expect(await opened(copy, notices)).toEqual(whole ? [1, 2, 3] : [1, 2])
      const torn = whole || end === lastLine ? [] : [bytes.subarray(lastLine, end)]
      expect(notices).toHaveLength(torn.length)
      for (const tail of torn) {
        expect(notices[0]).toContain(`(${tail.length} bytes)`)
        expect(await readFile(join(copy, 'journal.ndjson.torn-1'))).toEqual(tail)
        await expectMode(join(copy, 'journal.ndjson.torn-1'), 0o600)
      }
      expect(await opened(copy)).toEqual(whole ? [1, 2, 3] : [1, 2])
    }
  })

  it('is cut at a line boundary, for every byte of the last three lines', async () => {
    const { path, bytes } = await filled('journal.ndjson')
    const journal = { path, shown: '' }
    for (let end = bytes.length; end >= 0; end -= 1) {
      const text = bytes.subarray(0, end)
      await truncate(path, end)
      const { sequence, size, torn } = await withFile(journal, async (opened) => {
        if (opened === undefined) throw new Error('The journal is missing.')
        return replay(opened, journal, 0, () => {})
      })
      const unended = end + 1 === bytes.length || bytes[end] === 0x0a
      expect(sequence).toBe(text.toString().split('\n').length - 1 + (unended ? 1 : 0))
      expect(size + torn.length).toBe(end)
    }
  })

  it.each([512, 1024])('may be zeroed: the last %i bytes', async (sector) => {
    const { directory, path, bytes } = await filled('journal.ndjson')
    const start = Math.max(bytes.length - sector, 0)
    await writeFile(path, Buffer.concat([bytes.subarray(0, start), Buffer.alloc(bytes.length - start)]))
    const whole = bytes.subarray(0, start).toString().split('\n').length - 1
    expect(await opened(directory)).toEqual(numbers.slice(0, whole))
    expect((await readdir(directory)).filter((name) => name.includes('torn'))).toHaveLength(1)
  })

  it('may be only zeros, when the file was extended first', async () => {
    const { directory, path, bytes } = await filled('journal.ndjson')
    for (const text of [bytes, bytes.subarray(0, -1)]) {
      await writeFile(path, Buffer.concat([text, Buffer.alloc(4096)]))
      expect(await opened(await copyOf(directory))).toEqual(numbers)
    }
  })

  it('is not assumed for zeros within the journal', async () => {
    const { directory, path, bytes } = await filled('journal.ndjson')
    await writeFile(path, Buffer.from(bytes).fill(0, 100, 200))
    expect(await opened(directory)).toContain('journal.ndjson line 1 is damaged')
  })

  it('is overwritten by the next transaction', async () => {
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
    'in %s loses nothing, or is reported',
    async (file) => {
      const { directory, path, bytes } = await filled(file)
      const random = seeded(20_260_101)
      for (let round = 0; round < (isSoak ? 500 : 15); round += 1) {
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

  it('in the last line break of the journal does not count as a torn line', async () => {
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
    expect(await opened(directory)).toMatch(/journal\.ndjson line 2 .*transaction 3, expected 2/)
    await writeFile(path, [lines[1], lines[2], ''].join('\n'))
    expect(await opened(directory)).toMatch(/journal\.ndjson line 1 .*transaction 2, expected 1/)
  })

  it('with garbage is refused, untouched, with the place and the repair command', async () => {
    const { directory, path, bytes } = await filled('journal.ndjson')
    const [first = '', , third] = bytes.toString().split('\n')
    const text = [first, '!!!', third, ''].join('\n')
    await writeFile(path, text)
    const message = await opened(directory)
    expect(message).toContain(`.tabwire/journal.ndjson line 2 is damaged, at byte ${first.length + 1}`)
    expect(message).toContain('tabwire doctor --repair')
    expect(await readFile(path, 'utf8')).toBe(text)
  })

  it.each([
    ['CRLF', (text: string) => text.replaceAll('\n', '\r\n')],
    ['a byte order mark', (text: string) => `\ufeff${text}`],
    ['no final line break', (text: string) => text.slice(0, -1)],
    ['all of it', (text: string) => `\ufeff${text.replaceAll('\n', '\r\n').slice(0, -2)}`],
    ['half a final line break', (text: string) => text.replaceAll('\n', '\r\n').slice(0, -1)],
  ])('that an editor on Windows saved, with %s, has the same content', async (_, edit) => {
    const { directory, path, bytes } = await filled('journal.ndjson')
    await writeFile(path, edit(bytes.toString()))
    const store = await openStore(directory, { compactAtBytes: 1e9 })
    expect(await storedChecks(store)).toEqual(numbers)
    await saveChecks(store, 4)
    expect(await opened(await copyOf(directory))).toEqual([...numbers, 4])
  })

  it.each([
    [
      'a collection',
      [{ collection: 'tips', put: { id: 'tip_1' } }],
      'it contains an unknown write to "tips"',
    ],
    [
      'a kind of write',
      [{ collection: 'checks', merge: { id: 'chk_1' } }],
      'it contains an unknown write to "checks"',
    ],
  ])('from a version that knows another %s is refused, untouched', async (_, writes, why) => {
    const { directory, path, bytes } = await filled('journal.ndjson')
    const text = bytes.toString() + encodeLine(4, JSON.stringify(writes)).toString()
    await writeFile(path, text)
    const message = await opened(directory)
    expect(message).toContain('line 4 was written by a newer version of Tabwire')
    expect(message).toContain(why)
    expect(await readFile(path, 'utf8')).toBe(text)
  })

  it('of a newer format is refused, untouched; a damaged format counts as damage', async () => {
    const { directory, path, bytes } = await filled('journal.ndjson')
    const newer = `${bytes.toString()}{"format":2,"sequence":4,"crc":"0"}\n`
    await writeFile(path, newer)
    const message = await opened(directory)
    expect(message).toContain('line 4 was written by a newer version of Tabwire')
    expect(message).toContain('its "format" is 2')
    expect(await readFile(path, 'utf8')).toBe(newer)
    await writeFile(path, bytes.toString().replace('{"format":1,', '{"format":3,'))
    expect(await opened(directory)).toMatch(/line 1 is damaged/)
  })

  it('of an earlier version, whose lines have no format, is read and written on', async () => {
    const { directory, path } = await filled('journal.ndjson')
    const lines = numbers.map((number, index) => {
      const writes = JSON.stringify([put('checks', check(number))])
      const sequence = String(index + 1)
      return `{"sequence":${sequence},"crc32":"${hex(crc32(writes, crc32(sequence)))}","writes":${writes}}\n`
    })
    await writeFile(path, lines.join(''))
    const store = await openStore(directory, { compactAtBytes: 1e9 })
    expect(await storedChecks(store)).toEqual(numbers)
    await saveChecks(store, 4)
    expect((await readFile(path, 'utf8')).startsWith(lines.join(''))).toBe(true)
    expect(await opened(await copyOf(directory))).toEqual([...numbers, 4])
  })

  it('is enough without a snapshot', async () => {
    const { directory } = await filled('journal.ndjson')
    expect(await readdir(directory)).not.toContain('db.json')
    expect(await opened(directory)).toEqual(numbers)
  })
})

describe('a snapshot without a journal', () => {
  const withoutJournal = async (directory: string) => {
    await rm(join(directory, 'journal.ndjson'))
    return opened(directory)
  }
  const MISSING = /\.tabwire\/journal\.ndjson is missing.*tabwire doctor --repair/

  it('is enough when the store was closed with it', async () => {
    const { directory } = await filled('db.json')
    expect(await withoutJournal(directory)).toEqual(numbers)
  })

  it('is refused when the store was opened since, and not closed', async () => {
    const { directory } = await filled('db.json')
    await writeFile(join(directory, 'lock.9'), JSON.stringify({ pid: 2 ** 22 + 1, started: '1' }))
    expect(await withoutJournal(directory)).toMatch(MISSING)
    expect(await opened(directory)).toMatch(MISSING) // The refusal itself is no closing.
  })

  it('is refused when it was made while the service ran', async () => {
    const directory = await newDirectory()
    const store = await openStore(directory, { compactAtBytes: 1000 })
    for (let number = 1; !(await readdir(directory)).includes('db.json'); number += 1)
      await saveChecks(store, number)
    const copy = await copyOf(directory)
    await rm(join(copy, 'journal.old.ndjson'), { force: true })
    expect(await withoutJournal(copy)).toMatch(MISSING)
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

  it('with another layout counts as edited', async () => {
    const { directory, path, bytes } = await filled('db.json')
    await writeFile(path, JSON.stringify(JSON.parse(bytes.toString()), null, 4))
    expect(await opened(directory)).toMatch(/the checksum in line \d+ does not match/)
  })

  it('may be a fixture with only the required fields', async () => {
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
    ['has a strange collection', '{"format":1,"waiters":[]}', /"waiters" is not a collection/],
    ['has no list', '{"format":1,"checks":{}}', /"checks" is not an array/],
    [
      'has a record without id',
      '{"format":1,"checks":[{"id":"a"},{}]}',
      /checks\[1\] is not an object with an "id"/,
    ],
    [
      'has an event without body',
      '{"format":1,"events":[{"id":"a"}]}',
      /events\[0\] is not an object with.* "body"/,
    ],
    [
      'has an event whose body is no JSON',
      '{"format":1,"events":[{"id":"a","body":"{"}]}',
      /events\[0\] is not an object with.* "body"/,
    ],
    ['has an id twice', '{"format":1,"checks":[{"id":"a"},{"id":"a"}]}', /two of its checks have the "id" a/],
    ['has a strange number', '{"format":1,"sequence":-1}', /"sequence" is not a whole number/],
    ['holds zeros', '\0'.repeat(64), /db\.json.* is damaged: it is not JSON/],
    ['breaks off at once', '{"a":', /db\.json.* is damaged: it is not JSON/],
  ])('that %s is refused by name, untouched', async (_, text, message) => {
    const { directory, path } = await filled('db.json')
    await writeFile(path, text)
    const result = await opened(directory)
    expect(await readFile(path, 'utf8')).toBe(text)
    expect(result).toMatch(message)
    expect(result).toContain('.tabwire/db.json')
  })
})
