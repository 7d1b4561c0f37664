import { shellWord, tabwireCommand, type Shell } from '../model/shell-command.ts'

/** The shell that people use on this system. */
const shell: Shell = process.platform === 'win32' ? 'powershell' : 'posix'

/** {@link tabwireCommand} for the shell of this system. */
export function suggestion(...[words, operands, options]: Parameters<typeof tabwireCommand>): string {
  return tabwireCommand(words, operands, options, shell)
}

/** {@link shellWord} for the shell of this system. */
export function word(text: string): string {
  return shellWord(text, shell)
}
