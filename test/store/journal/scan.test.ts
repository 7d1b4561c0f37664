import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { withFile } from '../../../src/store/disk.ts'
import { encodeLines } from '../../../src/store/journal/line.ts'
import { scanFile, scanJournal, type JournalLine } from '../../../src/store/journal/scan.ts'
import { createLineReader } from '../../../src/store/snapshot/line-reader.ts'
import { newDirectory, openStore, tidyUp } from '../folder.ts'

tidyUp()

/** Lines of 700 kB, so that a block ends within some of them. */
const lines = encodeLines(
  1,
  Array.from({ length: 8 }, (_, n) => `[{"collection":"keys","remove":"${String(n).repeat(700_000)}"}]`),
)
const lastLine = lines.lastIndexOf('\n', lines.length - 2) + 1
const mark = Buffer.from([0xef, 0xbb, 0xbf])

it.each([
  ['nothing', Buffer.alloc(0), ''],
  ['whole lines', lines, 'whole '.repeat(8)],
  ['a byte order mark and carriage returns', marked(lines), 'whole '.repeat(8)],
  ['a last line without its break', lines.subarray(0, -1), 'whole '.repeat(8)],
  ['a last line cut off', lines.subarray(0, lastLine + 300_000), `${'whole '.repeat(7)}torn`],
  ['zeros of several blocks', Buffer.concat([lines, Buffer.alloc(5e6)]), `${'whole '.repeat(8)}torn`],
  [
    'zeros after a last line without its break',
    Buffer.concat([lines.subarray(0, -1), Buffer.alloc(5e6)]),
    `${'whole '.repeat(8)}torn`,
  ],
  ['only zeros', Buffer.alloc(5e6), 'torn'],
  ['a mark and zeros', Buffer.concat([mark, Buffer.alloc(10)]), 'torn'],
  [
    'a line cut off within',
    Buffer.concat([lines.subarray(0, lastLine - 300_000), lines.subarray(lastLine - 1)]),
    `${'whole '.repeat(6)}damaged whole`,
  ],
  [
    'a damaged line within',
    Buffer.from(lines).fill(0, 2_200_000, 2_200_100),
    `${'whole '.repeat(3)}damaged ${'whole '.repeat(4)}`,
  ],
])('a journal that is read in blocks has the same lines as the whole: %s', async (_, bytes, kinds) => {
  const directory = await newDirectory()
  await (await openStore(directory)).close()
  const file = { path: join(directory, 'lines'), shown: 'lines' }
  await writeFile(file.path, bytes)
  const found: unknown[] = []
  await withFile(file, async (opened) => {
    if (opened !== undefined)
      await scanFile(createLineReader(opened.file, opened.size), (line) => found.push(copyOf(line)))
  })
  const whole = Array.from(scanJournal(bytes), copyOf)
  expect(whole.map(({ kind }) => kind).join(' ')).toBe(kinds.trim())
  expect(JSON.stringify(found) === JSON.stringify(whole)).toBe(true)
})

/** A line without buffers that are used again. */
function copyOf(line: JournalLine) {
  return line.kind === 'torn' ? { ...line, bytes: line.bytes.toString('base64') } : line
}

function marked(bytes: Buffer): Buffer {
  return Buffer.concat([mark, Buffer.from(bytes.toString().replaceAll('\n', '\r\n'))])
}
