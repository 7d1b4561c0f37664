import { describe, expect, test } from 'vitest'
import {
  childOf,
  isTraceparent,
  isTracestate,
  readTraceContext,
} from '../../../src/model/text/trace-context.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const span = '00f067aa0ba902b7'
const given = `00-${trace}-${span}-01`

describe('a traceparent', () => {
  test.each([
    [given, given],
    [`00-${trace}-${span}-00`, `00-${trace}-${span}-00`],
    // The flags are sampled (1) and random (2). All others are reserved and become 0.
    [`00-${trace}-${span}-03`, `00-${trace}-${span}-03`],
    [`00-${trace}-${span}-ff`, `00-${trace}-${span}-03`],
    [`00-${trace}-${span}-fc`, `00-${trace}-${span}-00`],
    // Of a later version, ids and sampled are read, and version 00 goes on.
    [`01-${trace}-${span}-01`, given],
    [`01-${trace}-${span}-03`, given],
    [`cc-${trace}-${span}-01-what-the-future-brings`, given],
    [`fe-${trace}-${span}-01-`, given],
  ])('%s is read as %s', (header, traceparent) => {
    expect(readTraceContext(header, null)).toEqual({ traceparent })
  })

  test.each([
    '',
    'trace',
    `ff-${trace}-${span}-01`,
    `00-${'0'.repeat(32)}-${span}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `01-${'0'.repeat(32)}-${span}-01`,
    `00-${trace.toUpperCase()}-${span}-01`,
    `00-${trace}-${span.toUpperCase()}-01`,
    `0A-${trace}-${span}-01`,
    `00-${trace}-${span}-0A`,
    `00-${trace}-${span}-1`,
    `00-${trace}-${span}`,
    `00-${trace}-${span}-`,
    `00-${trace}-${span}-01-`,
    `00-${trace}-${span}-01-more`,
    `01-${trace}-${span}-01.more`,
    `01-${trace}-${span}-011`,
    `00-${trace.slice(1)}-${span}-01`,
    `00-${trace}0-${span}-01`,
    `00-${trace}-${span.slice(1)}-01`,
    `00-${trace}-${span}0-01`,
    `00-${trace.replace('4', 'g')}-${span}-01`,
    `00_${trace}_${span}_01`,
    `0-${trace}-${span}-01`,
    ` ${given}`,
    `${given}\n`,
    // Two headers, as HTTP joins them.
    `${given}, ${given}`,
  ])('%j is ignored, and tracestate with it', (header) => {
    expect(readTraceContext(header, 'a=1')).toBeUndefined()
    expect(isTraceparent(header)).toBe(false)
  })

  test('is valid in a stored event only in version 00', () => {
    expect(isTraceparent(given)).toBe(true)
    expect(isTraceparent(`01-${trace}-${span}-01`)).toBe(false)
  })

  test('has a child with the same trace id and flags', () => {
    expect(childOf({ traceparent: given }, 'b7ad6b7169203331')).toBe(`00-${trace}-b7ad6b7169203331-01`)
  })
})

const members = (count: number) => Array.from({ length: count }, (_, index) => `k${index}=v`).join(',')

describe('a tracestate', () => {
  test.each([
    'rojo=00f067aa0ba902b7',
    'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE',
    'a=1 , \tb=2',
    'a=1,,b=2,',
    'a=b c',
    'a=!"#$%&()*+-./:;<>?@[]^_`{|}~',
    '0tenant@system=1',
    'a_-*/9=1',
    `${'k'.repeat(256)}=v`,
    `a=${'v'.repeat(256)}`,
    `${'t'.repeat(241)}@${'s'.repeat(14)}=v`,
    members(32),
    `a=${'v'.repeat(255)},b=${'v'.repeat(252)}`,
  ])('%j is passed on unchanged', (tracestate) => {
    expect(readTraceContext(given, tracestate)).toEqual({ traceparent: given, tracestate })
  })

  test.each([
    '',
    ',',
    'a',
    'a=',
    '=1',
    'A=1',
    '0a=1',
    'a=1=2',
    'a =1',
    'a=é',
    'a=1\u0000',
    `${'k'.repeat(257)}=v`,
    `a=${'v'.repeat(257)}`,
    `${'t'.repeat(242)}@s=v`,
    `t@${'s'.repeat(15)}=v`,
    'a@b@c=1',
    'a=1,a=2',
    members(33),
    `a=${'v'.repeat(255)},b=${'v'.repeat(253)}`,
  ])('%j is ignored, but not its traceparent', (tracestate) => {
    expect(readTraceContext(given, tracestate)).toEqual({ traceparent: given })
    expect(isTracestate(tracestate)).toBe(false)
  })
})
