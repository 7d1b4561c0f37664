import { describe, expect, it } from 'vitest'
import { isTokenOf, tablePath } from '../src/table-address.ts'

const table = { location_id: 'loc_1', number: '12' }
const tokenOf = (secret: string, of = table) => tablePath(secret, of).split('/').at(-1) ?? ''

describe('the address of a table', () => {
  it('contains its number and 22 characters, which are the same each time', () => {
    expect(tablePath('secret', table)).toMatch(/^\/t\/12\/[\w-]{22}$/)
    expect(tablePath('secret', table)).toBe(tablePath('secret', table))
  })

  it.each([
    ['another number', 'secret', { ...table, number: '13' }],
    ['another location', 'secret', { ...table, location_id: 'loc_2' }],
    ['another service', 'other', table],
    ['the same letters, parted elsewhere', 'secret', { location_id: 'loc_', number: '112' }],
  ])('is not valid for a table of %s', (_what, secret, other) => {
    expect(isTokenOf(secret, other, tokenOf('secret'))).toBe(false)
    expect(isTokenOf(secret, other, tokenOf(secret, other))).toBe(true)
  })

  it.each(['', 'a', 'é'.repeat(11), 'a'.repeat(22), 'a'.repeat(5000)])(
    'is not valid with the token %j',
    (token) => {
      expect(isTokenOf('secret', table, token)).toBe(false)
    },
  )

  it('encodes any number as one segment of the path', () => {
    expect(tablePath('secret', { ...table, number: 'Bar/7 ü' })).toMatch(/^\/t\/Bar%2F7%20%C3%BC\/[\w-]{22}$/)
  })
})
