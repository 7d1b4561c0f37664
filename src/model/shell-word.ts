/** What every shell takes as it is, wherever it stands in a word. */
const PLAIN = /^[\w@%+=:,./-]+$/

/** Text in single quotes, of which a POSIX shell makes that very text. It can hold no NUL, which no argument can. */
export function singleQuoted(text: string): string {
  return `'${text.replaceAll('\0', '').replaceAll("'", `'\\''`)}'`
}

/** A word as it is typed in a POSIX shell: as it is where that is safe, else in single quotes. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : singleQuoted(text)
}
