import { shellWord, singleQuoted } from './shell-command.ts'

/** The format of specification section 5, in its own words: no receiver takes it for a signature. */
export const PLACEHOLDER = 't=<unix_seconds>,v1=<hex_hmac_sha256>'

/** The header that carries the API key, which the shell has in its environment. */
export const WITH_KEY = 'Authorization: Bearer $TABWIRE_API_KEY'

/**
 * A POSIX shell command that sends exactly these bytes, by POST unless said otherwise. What is no text goes through
 * printf's octal escapes, since no quoting carries every byte.
 */
export function curlCommand(
  url: string,
  headers: string | readonly string[],
  body: Uint8Array,
  method = 'POST',
): string {
  const lines = ['Content-Type: application/json', headers].flat()
  const target = [urlWord(url), ...lines.map((line) => `-H ${quoteHeader(line)}`)].join(' ')
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(body)
  const isText = !text.includes('\0') && isSame(new TextEncoder().encode(text), body)
  // curl reads a body that begins with @ from a file, so every body comes through standard input.
  const source = isText ? `printf %s ${singleQuoted(text)}` : `printf ${singleQuoted(octal(body))}`
  return `${source} | curl -gsS -X ${shellWord(method)} ${target} --data-binary @-`
}

/** The same as an `.http` file, which editors and tools send: nothing follows the body's last byte. */
export function httpRequest(url: string, headers: readonly string[], body: string): string {
  return [`POST ${url} HTTP/1.1`, 'Content-Type: application/json', ...headers, '', body].join('\n')
}

/** An address for curl, which takes one that begins with a dash for an option. */
export function urlWord(url: string): string {
  return url.startsWith('-') ? `--url ${singleQuoted(url)}` : singleQuoted(url)
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index])
}

/** The one variable of the environment that a header may have: a key that is not to be in the command. */
function quoteHeader(line: string): string {
  return line === WITH_KEY ? `"${line}"` : singleQuoted(line)
}

function octal(body: Uint8Array): string {
  return Array.from(body, (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
}
