/**
 * A POSIX shell command that posts exactly these bytes. What is no text goes through printf's octal escapes, since no
 * quoting carries every byte.
 */
export function curlCommand(url: string, header: string, body: Uint8Array): string {
  const target = `${quote(url)} -H 'Content-Type: application/json' -H ${quote(header)}`
  const text = Buffer.from(body).toString()
  const isText = !text.includes('\0') && Buffer.from(text).equals(Buffer.from(body))
  // curl reads a body that begins with @ from a file, so every body comes through standard input.
  const source = isText ? `printf %s ${quote(text)}` : `printf ${quote(octal(body))}`
  return `${source} | curl -gsS -X POST ${target} --data-binary @-`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function octal(body: Uint8Array): string {
  return Array.from(body, (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
}
