import type { Row } from './case.ts'
import { bytes, type Forge } from './forge.ts'

interface OddForm extends Pick<Row, 'id' | 'title' | 'explainedBy'> {
  /** The bytes of an event as legal JSON that a parser would not write again. */
  write(forge: Forge): Buffer
}

/**
 * Ways to write JSON that are as good as the usual one, but do not survive a parser. What is odd stands in fields of its
 * own, so that a receiver that validates the fields it knows accepts each.
 */
export const oddForms: readonly OddForm[] = [
  {
    id: 'odd_white_space',
    title: 'JSON with spaces, tabs and line breaks in odd places',
    write: (forge) => Buffer.from(JSON.stringify(forge.envelope(), null, ' \t').replaceAll('": ', '" :\r\n')),
  },
  {
    id: 'odd_numbers',
    title: 'Numbers written as 1.0, 1E2 and with more digits than a double holds',
    write: (forge) => withField(forge, '{"one":1.0,"hundred":1E2,"large":12345678901234567890,"zero":-0}'),
  },
  {
    id: 'odd_escapes',
    title: 'Slashes and letters escaped without need',
    write: (forge) => withField(forge, '{"url":"https:\\/\\/pos.example.com","name":"\\u0041lma \\u00e9"}'),
  },
  {
    id: 'odd_keys',
    title: 'Keys that look like numbers, out of order',
    write: (forge) => withField(forge, '{"10":1,"9":2,"b":3,"a":4}'),
  },
  {
    id: 'odd_characters',
    title: 'Percent signs, plus signs, ampersands and markup in a text',
    write: (forge) =>
      bytes(forge.envelopeWith({ odd: '100%25 %41 a+b&c=d; <b>fish & chips</b> &amp; {{x}} $1 \\n \u0007' })),
  },
  {
    id: 'odd_unicode',
    explainedBy: ['non_ascii'],
    title: 'Letters and accents as separate characters (Unicode NFD)',
    write: (forge) => bytes(forge.envelopeWith({ odd: 'Zoë Åsa 한글'.normalize('NFD') })),
  },
  {
    id: 'odd_trailing_newline',
    title: 'A line break after the JSON',
    write: (forge) => Buffer.from(`${JSON.stringify(forge.envelope())}\r\n`),
  },
]

/** An event whose data has a field with this JSON. */
function withField(forge: Forge, json: string): Buffer {
  const text = JSON.stringify(forge.envelopeWith({ odd: 0 }))
  return Buffer.from(text.replace(/"odd":0\}\}$/, () => `"odd":${json}}}`))
}
