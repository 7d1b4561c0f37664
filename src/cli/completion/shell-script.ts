import { script } from '@bomb.sh/tab'
import { bashScript } from './bash-script.ts'

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const
export type Shell = (typeof shells)[number]

/** What a shell has to read so that it asks `tabwire complete` whenever the tab key is pressed. */
export function shellScript(shell: Shell): string {
  return shell === 'bash' ? bashScript : captured(() => script(shell, 'tabwire', 'tabwire'))
}

/* oxlint-disable no-console -- The package prints its scripts by itself. */
function captured(print: () => void): string {
  const { log } = console
  let text = ''
  console.log = (line: string) => (text += `${line}\n`)
  try {
    print()
  } finally {
    console.log = log
  }
  return text
}
