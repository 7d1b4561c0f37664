import chalk from 'chalk'

/** Names and values below each other. */
export function renderFields(fields: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length))
  return fields.map(([name, value]) => `${chalk.dim(name.padEnd(width))}  ${printable(value)}`).join('\n')
}

/** A POS, a guest or a receiver wrote this text: nothing in it may steer the terminal. Our own colours stay. */
export function printable(text: string): string {
  return text.replace(
    /\u001b(?!\[\d{1,3}m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g,
    '\ufffd',
  )
}
