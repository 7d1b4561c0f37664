import { describe, expect, it } from 'vitest'
import { startOfHeaders } from '../../../src/delivery/send/http-exchange.ts'

/** Names and values in turn, as bytes. */
const bytes = (...texts: string[]) => texts.map((text) => Buffer.from(text, 'latin1'))

describe('the stored headers of a response', () => {
  it('keep order, repetitions, letter case and empty values', () => {
    expect(startOfHeaders(bytes('Set-Cookie', 'a=1', 'X-Empty', '', 'set-cookie', 'b=2'))).toEqual({
      response_headers: [
        { name: 'Set-Cookie', value: 'a=1' },
        { name: 'X-Empty', value: '' },
        { name: 'set-cookie', value: 'b=2' },
      ],
    })
    expect(startOfHeaders([])).toEqual({ response_headers: [] })
  })

  it('have one character per byte', () => {
    const all = Buffer.from(Array.from({ length: 128 }, (_, at) => at + 128))
    const [header] = startOfHeaders([Buffer.from('x'), all]).response_headers
    expect(Array.from(header?.value ?? '', (letter) => letter.codePointAt(0))).toEqual([...all])
  })

  it.each([
    ['fit in 4 KiB', 4095, { response_headers: [{ name: 'x', value: 'v'.repeat(4095) }] }],
    [
      'are cut in the value that exceeds 4 KiB',
      4096,
      { response_headers: [{ name: 'x', value: 'v'.repeat(4095) }], response_headers_cut: true },
    ],
  ])('%s', (_what, length, kept) => {
    expect(startOfHeaders(['x', 'v'.repeat(length)])).toEqual(kept)
  })

  it('are cut before a name that exceeds 4 KiB', () => {
    const kept = [{ name: 'x', value: 'v'.repeat(4090) }]
    expect(startOfHeaders(['x', 'v'.repeat(4090), 'length', '1'])).toEqual({
      response_headers: kept,
      response_headers_cut: true,
    })
    expect(startOfHeaders(['x', 'v'.repeat(4090), 'empty', ''])).toEqual({
      response_headers: [...kept, { name: 'empty', value: '' }],
    })
  })

  it('are at most 100', () => {
    const many = (count: number) => startOfHeaders(Array.from({ length: count }, () => ['x', '1']).flat())
    expect(many(100).response_headers).toHaveLength(100)
    expect(many(100).response_headers_cut).toBeUndefined()
    expect(many(101).response_headers).toHaveLength(100)
    expect(many(101).response_headers_cut).toBe(true)
  })
})
