import { shellWord, tabwireCommand, type Shell } from '../model/text/shell-command.ts'

/** The shell of the user: on Windows PowerShell, unless Git Bash or another shell of MSYS runs this program. */
export const shell: Shell =
  process.platform === 'win32' && process.env.MSYSTEM === undefined ? 'powershell' : 'posix'

/** {@link tabwireCommand} for the shell of the user. */
export function suggestion(...[words, operands, options]: Parameters<typeof tabwireCommand>): string {
  return tabwireCommand(words, operands, options, shell)
}

/** {@link shellWord} for the shell of the user. */
export function word(text: string): string {
  return shellWord(text, shell)
}

/** Forwards deliveries to an application; comes before a push, so that it is registered in time. */
export const FORWARD = 'tabwire listen --forward-to http://localhost:3000/webhooks'

/** Pushes a check of the package. */
export const PUSH = 'tabwire push --sample two-top'

/** Writes the secret of `listen` to a file. Windows PowerShell 5.1 would write UTF-16 by `>`; cmd runs this, too. */
export const SAVE_SECRET =
  shell === 'powershell'
    ? 'cmd /c "tabwire listen --print-secret > listen.secret"'
    : 'tabwire listen --print-secret > listen.secret'
