import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createStateScanner, stateText } from '../../../src/model/simulator/record-lines.ts'

const state = {
  format: 2,
  clock: { now: '2026-11-22T00:00:00.000Z', frozen: true },
  locations: [{ id: 'loc_1', name: 'Café "Zum Löwen"\n🦁' }],
  checks: [{ id: 'chk_1', items: [{ name: '},\n    {' }] }, { id: 'chk_2' }],
  claims: [],
}
const text = [...stateText(state)].join('')

/** Returns the scanner's results for chunks of these sizes; `undefined` for another layout. */
function scan(bytes: Uint8Array, sizes: readonly number[] = [bytes.length]): unknown {
  const fields = new Map<string, unknown>()
  let records: unknown[] = []
  const scanner = createStateScanner({
    field: (name, json) => fields.set(name, JSON.parse(json)),
    list: (name) => fields.set(name, (records = [])),
    record: (json) => records.push(JSON.parse(json)),
  })
  let start = 0
  for (const size of [...sizes, bytes.length]) scanner.take(bytes.subarray(start, (start += size)))
  return scanner.end() ? Object.fromEntries(fields) : undefined
}

describe('the text of a state', () => {
  it('is JSON with one record a line', () => {
    expect(JSON.parse(text)).toEqual(state)
    expect(text.split('\n').filter((line) => line.startsWith('    '))).toHaveLength(3)
  })

  it('is JSON also without fields, and leaves undefined ones out', () => {
    expect(JSON.parse([...stateText({})].join(''))).toEqual({})
    expect(JSON.parse([...stateText({ format: undefined, claims: [] })].join(''))).toEqual({ claims: [] })
  })

  it('is read in chunks of any size, even when they split a character', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 })), (sizes) => {
        expect(scan(Buffer.from(text), sizes)).toEqual(state)
      }),
    )
    expect(
      scan(
        Buffer.from(text),
        Array.from(text, () => 1),
      ),
    ).toEqual(state)
  })

  it('that is truncated is not complete', () => {
    const bytes = Buffer.from(text)
    for (let size = 0; size < bytes.length; size += 1) expect(scan(bytes.subarray(0, size))).toBeUndefined()
  })

  it.each([
    ['laid out otherwise', JSON.stringify(state, null, 2)],
    ['on one line', JSON.stringify(state)],
    ['without a comma between records', text.replace(']},\n', ']}\n')],
    ['with a comma behind the last record', text.replace('{"id":"chk_2"}\n', '{"id":"chk_2"},\n')],
    ['without a comma between fields', text.replace('2,\n', '2\n')],
    ['with a comma behind the last field', text.replace('  ]\n}', '  ],\n}')],
    ['with more behind it', `${text}{}\n`],
    ['with a byte-order mark', `\uFEFF${text}`],
    ['with Windows line breaks', text.replaceAll('\n', '\r\n')],
    ['that is empty', ''],
  ])('%s is not scanned as lines', (_what, other) => {
    expect(other).not.toBe(text)
    expect(scan(Buffer.from(other))).toBeUndefined()
  })

  it('that is not UTF-8 is not scanned as lines', () => {
    const bytes = Buffer.from(text)
    bytes[text.indexOf('loc_1')] = 0xff
    expect(scan(bytes)).toBeUndefined()
  })

  it('may have an empty list on one line', () => {
    expect(scan(Buffer.from(text.replace('[\n  ]', '[]')))).toEqual(state)
  })
})
