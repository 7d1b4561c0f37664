/** Whose rules of quoting a command follows: `posix` of sh, bash and zsh, `powershell` of PowerShell. */
export type Shell = 'posix' | 'powershell'

/** What each shell takes as it is, wherever it stands in a word. */
const plain: Readonly<Record<Shell, RegExp>> = {
  posix: /^[\w@%+=:,./-]+$/,
  powershell: /^[\w:./\\-]+$/,
}

/** Characters that a terminal acts upon when they are pasted, and marks that nobody sees; a line break is neither. */
const unseen = /[^\P{C}\n]/u

/** Text in single quotes, of which a POSIX shell makes that very text. It can hold no NUL, which no argument can. */
export function singleQuoted(text: string): string {
  return `'${text.replaceAll('\0', '').replaceAll("'", `'\\''`)}'`
}

/** A word as it is typed in a shell, which makes nothing of it but that word: as it is where that is safe, else quoted. */
export function shellWord(text: string, shell: Shell = 'posix'): string {
  if (plain[shell].test(text)) return text
  // PowerShell takes typographic quotes for plain ones.
  if (shell === 'powershell') return `'${text.replaceAll('\0', '').replace(/['‘’‚‛]/g, '$&$&')}'`
  return unseen.test(text) ? printed(text.replaceAll('\0', '')) : singleQuoted(text)
}

/** Has `printf` write the bytes; line breaks at the end are beside it, since the shell would take them away. */
function printed(text: string): string {
  const [, most = '', end = ''] = /^([^]*?)(\n*)$/.exec(text) ?? []
  const bytes = Array.from(new TextEncoder().encode(most), (byte) => {
    const letter = String.fromCharCode(byte)
    return /[\w.:/ ]/.test(letter) ? letter : `\\${byte.toString(8).padStart(3, '0')}`
  })
  return `"$(printf '${bytes.join('')}')"${end === '' ? '' : singleQuoted(end)}`
}

/** The value of an option: a text, nothing for a switch, or a variable of the environment that the shell puts in. */
type OptionValue = string | true | { variable: string }

/**
 * A command of ours to be copied: `tabwire guests pay CHECK --claim clm_…`. Whatever the values hold, a shell makes of each
 * the one argument that it is, and the command takes none of them for an option: behind `--` where one begins with a dash.
 * @param words The command and what is fixed, such as `guests pay`.
 */
export function tabwireCommand(
  words: string,
  operands: readonly string[] = [],
  options: Readonly<Record<string, OptionValue>> = {},
  shell: Shell = 'posix',
): string {
  const given = Object.entries(options).map(([name, value]) => optionText(name, value, shell))
  const values = operands.map((operand) => shellWord(operand, shell))
  // A script of PowerShell, as npm makes one, would take a bare `--` for its own.
  const separator = shell === 'powershell' ? "'--'" : '--'
  const rest = operands.some((operand) => operand.startsWith('-'))
    ? [...given, separator, ...values]
    : [...values, ...given]
  return ['tabwire', words, ...rest].join(' ')
}

function optionText(name: string, value: OptionValue, shell: Shell): string {
  if (value === true) return `--${name}`
  if (typeof value === 'object') {
    const variable = shell === 'powershell' ? `$env:${value.variable}` : `$${value.variable}`
    return `--${name} "${variable}"`
  }
  return value.startsWith('-') || value === ''
    ? shellWord(`--${name}=${value}`, shell)
    : `--${name} ${shellWord(value, shell)}`
}

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
