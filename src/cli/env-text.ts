/**
 * One assignment of a `.env` file: what is before the value, the value (which may be quoted, and then go over several
 * lines), and what follows it on its last line. Quotes are tried first, so that nothing inside of them is taken for an
 * assignment.
 */
const assignment =
  /^([^\S\r\n]*(?:export[^\S\r\n]+)?([A-Za-z_][\w.-]*)[^\S\r\n]*=[^\S\r\n]*)("(?:\\[^]|[^"\\])*"|'[^']*'|`[^`]*`|[^\s#][^\r\n]*?(?=[^\S\r\n]+#|[^\S\r\n]*$)|)([^\r\n]*)$/gm

/**
 * The text of a `.env` file with these variables in it: those that are there are replaced, wherever they are, and new
 * ones come at the end. All other lines, comments, their order and the line ends stay as they are.
 */
export function withVariables(text: string, variables: Readonly<Record<string, string>>): string {
  const found = new Set<string>()
  const replaced = text.replace(assignment, (whole, before: string, name: string, _value, after: string) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined
    if (value === undefined) return whole
    found.add(name)
    return `${before}${quoted(value)}${after.startsWith('#') ? ' ' : ''}${after}`
  })
  const lineEnd = /\r?\n/.exec(text)?.[0] ?? '\n'
  const lines = Object.entries(variables)
    .filter(([name]) => !found.has(name))
    .map(([name, value]) => `${name}=${quoted(value)}${lineEnd}`)
  const isOpen = lines.length > 0 && replaced !== '' && !replaced.endsWith('\n')
  return `${replaced}${isOpen ? lineEnd : ''}${lines.join('')}`
}

/** As shells and dotenv libraries both read it. */
function quoted(value: string): string {
  if (/^[\w.:/@%+,=-]*$/.test(value)) return value
  return value.includes("'") ? `"${value.replace(/["\\$`]/g, '\\$&')}"` : `'${value}'`
}
