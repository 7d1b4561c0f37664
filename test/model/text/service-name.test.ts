import { describe, expect, it } from 'vitest'
import { parseServiceName, signatureHeader } from '../../../src/model/text/service-name.ts'

describe('the name of a service', () => {
  it.each([
    ['Acme', 'Acme'],
    ['acme', 'acme'],
    ['X-Acme-Signature', 'Acme'],
    ['x-acme-signature', 'Acme'],
    ['X-ACME-SIGNATURE', 'Acme'],
    ['Acme-Signature', 'Acme'],
    ['X-Acme', 'Acme'],
    ['X-AcmePay-Signature', 'AcmePay'],
    ['x-acme-pay-signature', 'Acme-Pay'],
    ['Signature', 'Signature'],
    ['Xavier', 'Xavier'],
    ['7', '7'],
  ])('is parsed from %s', (text, name) => {
    expect(parseServiceName(text)).toBe(name)
  })

  it.each(['', 'A B', '-Acme', 'Acme-', 'Zoë', 'X-Acme:-Signature', 'a'.repeat(65), 'Acme\n'])(
    'cannot be %j',
    (text) => {
      expect(parseServiceName(text)).toBeUndefined()
    },
  )

  it('names the signature header', () => {
    expect(signatureHeader('Acme')).toBe('X-Acme-Signature')
  })
})
