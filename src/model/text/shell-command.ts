/** Quoting rules: `posix` for sh, bash and zsh, `powershell` for PowerShell. */
export type Shell = 'posix' | 'powershell'

/** Words that need no quotes in each shell. zsh replaces `=x` by the path of the program x. */
const plain: Readonly<Record<Shell, RegExp>> = {
  posix: /^(?!=)[\w@%+=:,./-]+$/,
  powershell: /^[\w:./\\-]+$/,
}

/** Control and invisible characters, which a terminal may act upon when pasted; `\n` is the only allowed line break. */
const unseen = /[^\P{C}\n]|[\u2028\u2029]/u

/** Returns the text in POSIX single quotes. NUL is removed, because no argument can contain it. */
function singleQuoted(text: string): string {
  return `'${text.replaceAll('\0', '').replaceAll("'", `'\\''`)}'`
}

/** Returns a word that the shell reads as this text: unquoted where that is safe, otherwise quoted. */
export function shellWord(text: string, shell: Shell = 'posix'): string {
  if (plain[shell].test(text)) return text
  // PowerShell treats typographic quotes as plain ones.
  if (shell === 'powershell') return `'${text.replaceAll('\0', '').replace(/['‘’‚‛]/g, '$&$&')}'`
  return unseen.test(text) ? printed(text.replaceAll('\0', '')) : singleQuoted(text)
}

/** Prints the text with `printf`. Trailing line breaks are outside the substitution, which would strip them. */
function printed(text: string): string {
  const [, most = '', end = ''] = /^([^]*?)(\n*)$/.exec(text) ?? []
  const bytes = Array.from(new TextEncoder().encode(most), (byte) => {
    const letter = String.fromCharCode(byte)
    return /[\w.:/ ]/.test(letter) ? letter : `\\${byte.toString(8).padStart(3, '0')}`
  })
  return `"$(printf '${bytes.join('')}')"${end === '' ? '' : singleQuoted(end)}`
}

/** Value of an option: a text, `true` for a switch, or an environment variable that the shell expands. */
type OptionValue = string | true | { variable: string }

/**
 * Returns a Tabwire command to copy: `tabwire guests pay CHECK --claim clm_…`. The shell passes every value as one
 * argument. A value that begins with a dash comes after `--`, so that it is not read as an option.
 * @param words The command and its fixed words, such as `guests pay`.
 */
export function tabwireCommand(
  words: string,
  operands: readonly string[] = [],
  options: Readonly<Record<string, OptionValue>> = {},
  shell: Shell = 'posix',
): string {
  const given = Object.entries(options).map(([name, value]) => optionText(name, value, shell))
  const values = operands.map((operand) => shellWord(operand, shell))
  // npm's PowerShell scripts would consume a bare `--`.
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

/** Returns the environment variable of a flag: `TABWIRE_API_KEY` of `api-key` (contract section 12). */
export function variableOf(flag: string): string {
  return `TABWIRE_${flag.replaceAll('-', '_').toUpperCase()}`
}

/** Placeholder in the format of specification section 5, which no receiver accepts as a signature. */
export const PLACEHOLDER = 't=<unix_seconds>,v1=<hex_hmac_sha256>'

/** Header with the API key from an environment variable of the shell. */
export const WITH_KEY = 'Authorization: Bearer $TABWIRE_API_KEY'

interface CurlOptions {
  method?: string
  /** PEM file of the authority of the receiver's certificate. */
  cacert?: string | undefined
  /** The command fails when the response has a status of 400 or more, and prints it in place of the body. */
  fails?: boolean
}

/**
 * Returns a POSIX shell command that sends exactly these bytes, by POST by default. A body that is not UTF-8 text, or has
 * characters that a terminal may act upon, is written with octal escapes of printf.
 */
export function curlCommand(
  url: string,
  headers: string | readonly string[],
  body: Uint8Array,
  { method = 'POST', cacert, fails = false }: CurlOptions = {},
): string {
  const lines = ['Content-Type: application/json', headers].flat()
  const trust = cacert === undefined ? [] : [`--cacert ${shellWord(cacert)}`]
  const target = [urlWord(url), ...trust, ...lines.map((line) => `-H ${quoteHeader(line)}`)].join(' ')
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(body)
  const isText = !unseen.test(text) && isSame(new TextEncoder().encode(text), body)
  // curl reads a body that begins with @ from a file, so every body comes through standard input.
  const source = isText ? `printf %s ${singleQuoted(text)}` : `printf ${singleQuoted(octal(body))}`
  return `${source} | curl -gsS${fails ? 'f' : ''} -X ${shellWord(method)} ${target} --data-binary @-`
}

/** Returns the request as an `.http` file for editors and tools; nothing follows the body's last byte. */
export function httpRequest(url: string, headers: readonly string[], body: string): string {
  return [`POST ${url} HTTP/1.1`, 'Content-Type: application/json', ...headers, '', body].join('\n')
}

/** Returns a URL for curl, which reads one that begins with a dash as an option. */
export function urlWord(url: string): string {
  return url.startsWith('-') ? `--url ${singleQuoted(url)}` : singleQuoted(url)
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index])
}

/** Quotes a header. Only the API key may be an environment variable, so that the command does not contain it. */
function quoteHeader(line: string): string {
  return line === WITH_KEY ? `"${line}"` : singleQuoted(line)
}

/**
 * Returns a format of printf for these bytes: those that quotes, formats or terminals treat specially are octal, and a hyphen
 * at the start, which would begin an option.
 */
function octal(body: Uint8Array): string {
  return Array.from(body, (byte, at) => {
    const letter = String.fromCharCode(byte)
    return /[\n -~]/.test(letter) && !(at === 0 ? /['%\\-]/ : /['%\\]/).test(letter)
      ? letter
      : `\\${byte.toString(8).padStart(3, '0')}`
  }).join('')
}
