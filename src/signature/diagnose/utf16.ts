/** Advice for a file or body in UTF-16. */
export const UTF16_ADVICE =
  'Windows PowerShell writes UTF-16 files with `>`, but the service signs UTF-8. Save the bytes as received: use curl -o FILE, or `>` in cmd or PowerShell 7.4.'

/**
 * Decodes UTF-16: bytes with its byte-order mark, or that start with two ASCII characters of two bytes each. `undefined` for
 * all other bytes.
 */
export function textOfUtf16(bytes: Uint8Array): string | undefined {
  const charset = charsetOf(bytes)
  return charset === undefined ? undefined : new TextDecoder(charset).decode(bytes)
}

function charsetOf([first = 0, second = 0, third = 0, fourth = 0]: Uint8Array) {
  if ((first === 0xff && second === 0xfe) || (isAscii(first, third) && second === 0 && fourth === 0))
    return 'utf-16le'
  if ((first === 0xfe && second === 0xff) || (isAscii(second, fourth) && first === 0 && third === 0))
    return 'utf-16be'
  return undefined
}

function isAscii(...units: number[]): boolean {
  return units.every((unit) => unit > 0 && unit < 0x80)
}
