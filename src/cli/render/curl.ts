/**
 * A POSIX shell command that posts exactly these bytes. What is no text goes through printf's octal escapes, since no
 * quoting carries every byte.
 */
export function curlCommand(url: string, headers: string | readonly string[], body: Uint8Array): string {
  const lines = ['Content-Type: application/json', headers].flat()
  const target = [quote(url), ...lines.map((line) => `-H ${quote(line)}`)].join(' ')
  const text = Buffer.from(body).toString()
  const isText = !text.includes('\0') && Buffer.from(text).equals(Buffer.from(body))
  // curl reads a body that begins with @ from a file, so every body comes through standard input.
  const source = isText ? `printf %s ${quote(text)}` : `printf ${quote(octal(body))}`
  return `${source} | curl -gsS -X POST ${target} --data-binary @-`
}

/** The same as an `.http` file, which editors and tools send: nothing follows the body's last byte. */
export function httpRequest(url: string, headers: readonly string[], body: string): string {
  return [`POST ${url} HTTP/1.1`, 'Content-Type: application/json', ...headers, '', body].join('\n')
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function octal(body: Uint8Array): string {
  return Array.from(body, (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
}
