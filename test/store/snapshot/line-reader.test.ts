import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { expect, it } from 'vitest'
import { createLineReader, eachLine } from '../../../src/store/snapshot/line-reader.ts'
import { newDirectory, openStore, tidyUp } from '../folder.ts'

tidyUp()

it.each([
  ['short ones', Array.from({ length: 30_000 }, (_, n) => `line ${n}`)],
  ['longer ones than what is read at once', ['a', 'b'.repeat(300_000), '', 'c'.repeat(1_500_000), 'd']],
  ['ones of a block each', Array.from({ length: 5 }, () => 'x'.repeat(256 * 1024 - 1))],
])('the lines of a file are read to the last: %s', async (_, lines) => {
  const directory = await newDirectory()
  await (await openStore(directory)).close()
  const path = join(directory, 'lines')
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
  await writeFile(path, Buffer.concat([bytes, Buffer.from('what is not asked for\n')]))
  const file = await open(path)
  const reader = createLineReader(file, bytes.length)
  const found: string[] = []
  await eachLine(reader, (line) => found.push(line.toString()))
  await file.close()
  expect(found.length).toBe(lines.length)
  expect(found.every((line, n) => line === lines[n])).toBe(true)
  expect(reader.crc()).toBe(crc32(bytes))
})
