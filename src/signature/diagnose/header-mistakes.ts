interface HeaderMistakeRule {
  mistake: string
  advice: string
  /** Returns the header without the mistake; unchanged when it has none. */
  repair(header: string): string
}

/** Changes of a header in transit. A mistake is reported only when the repaired header verifies. */
export const headerMistakes = [
  {
    mistake: 'header_folded',
    advice:
      'The header was folded over several lines. Send it on one line: proxies and servers handle folds differently.',
    repair: (header) => header.replace(/\r?\n[ \t]+/g, ''),
  },
  {
    mistake: 'header_quoted',
    advice: 'The header contains quotes. Remove them: neither the value nor its parts are quoted.',
    repair: (header) => header.replace(/["'`]/g, ''),
  },
  {
    mistake: 'header_with_name',
    advice: 'The value contains the name of the header. Pass only the text after the colon.',
    repair: (header) => header.replace(/^[\w-]+:[ \t]*/, ''),
  },
  {
    mistake: 'header_utf16',
    advice:
      "The header was read from a UTF-16 file, as Windows PowerShell's > writes it. Pass the header as plain text.",
    repair: (header) =>
      header.replace(/^(?:\ufeff|\ufffd\ufffd|ÿþ|þÿ)([^]*)$/, (_all, text: string) =>
        text.replaceAll('\0', '').trim(),
      ),
  },
  {
    mistake: 'header_spaces',
    advice: 'The header contains spaces. Remove them: t=<unix_seconds>,v1=<hex>.',
    repair: (header) => header.replace(/\s+/g, ''),
  },
  {
    mistake: 'header_v0_only',
    advice: 'The signature is valid, but its scheme is v0. Only v1 counts: write v1=<hex>.',
    repair: (header) => (/(^|,)v1=/.test(header) ? header : header.replace(/(^|,)v0=/, '$1v1=')),
  },
] as const satisfies readonly HeaderMistakeRule[]

export type HeaderMistake = (typeof headerMistakes)[number]['mistake']
