import { shellWord, tabwireCommand, type Shell } from '../model/text/shell-command.ts'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../package-file.ts'

/** The usual shell of this system. */
const shell: Shell = process.platform === 'win32' ? 'powershell' : 'posix'

/** {@link tabwireCommand} for the shell of this system. */
export function suggestion(...[words, operands, options]: Parameters<typeof tabwireCommand>): string {
  return tabwireCommand(words, operands, options, shell)
}

/** {@link shellWord} for the shell of this system. */
export function word(text: string): string {
  return shellWord(text, shell)
}

/** Returns the path of an example check of the package, relative to this directory, for use in a shell. */
export function exampleCheck(): string {
  const file = fileURLToPath(packageFile('fixtures/checks/two-top.json'))
  return relative('', file)
}
