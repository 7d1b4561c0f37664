import type { FlagShape } from '../config/schema.ts'

/** A definition of a flag, as far as its form on the command line goes. */
type Flag = Pick<FlagShape, 'type'> & { char?: string | undefined; aliases?: string[] | undefined }

/**
 * Splits the words of `exec` into its own flags and the command to run. The command starts behind `--`, or at the first
 * word that is neither a flag nor a flag's value: PowerShell removes `--` from the arguments of scripts.
 */
export function splitCommand(
  argv: readonly string[],
  flags: Readonly<Record<string, Flag>>,
): { own: string[]; command: string[] } {
  let end = 0
  while (end < argv.length) {
    const word = argv[end] ?? ''
    if (word === '--') return { own: argv.slice(0, end), command: argv.slice(end + 1) }
    if (!word.startsWith('-') || word === '-') break
    end += takesNextWord(word, flags) ? 2 : 1
  }
  return { own: argv.slice(0, end), command: argv.slice(end) }
}

/** Returns true for `--port`, whose value is the next word; false for `--port=0` and for switches. */
function takesNextWord(word: string, flags: Readonly<Record<string, Flag>>): boolean {
  const found = Object.entries(flags).find(
    ([name, { char, aliases = [] }]) =>
      word === `--${name}` || word === `-${char}` || aliases.some((alias) => word === `--${alias}`),
  )
  return found?.[1].type === 'option'
}
