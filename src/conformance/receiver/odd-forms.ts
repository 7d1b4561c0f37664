import type { Envelope } from '../../model/event.ts'

interface OddForm {
  id: string
  title: string
  /** The envelope as legal JSON that no writer would make again of what it reads. */
  write(envelope: Envelope): string
}

/** Ways to write JSON which are as good as the usual one, but do not outlive a parser. */
export const oddForms: readonly OddForm[] = [
  {
    id: 'odd_white_space',
    title: 'JSON with blanks, tabs and line breaks in odd places',
    write: (envelope) => JSON.stringify(envelope, null, ' \t').replaceAll('": ', '" :\r\n'),
  },
  {
    id: 'odd_numbers',
    title: 'Numbers written as 1.0, 1E2 and with more digits than a double holds',
    write: (envelope) =>
      withData(envelope, '{"one":1.0,"hundred":1E2,"large":12345678901234567890,"zero":-0}'),
  },
  {
    id: 'odd_escapes',
    title: 'Slashes and letters escaped without need',
    write: (envelope) =>
      withData(envelope, '{"url":"https:\\/\\/pos.example.com","name":"\\u0041lma \\u00e9"}'),
  },
  {
    id: 'odd_keys',
    title: 'One key twice, and keys that look like numbers out of order',
    write: (envelope) => withData(envelope, '{"10":1,"9":2,"name":"first","name":"last"}'),
  },
  {
    id: 'odd_trailing_newline',
    title: 'A line break after the JSON',
    write: (envelope) => `${JSON.stringify(envelope)}\r\n`,
  },
]

function withData(envelope: Envelope, data: string): string {
  return JSON.stringify({ ...envelope, data: 0 }).replace(/0\}$/, () => `${data}}`)
}
