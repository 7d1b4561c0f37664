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
