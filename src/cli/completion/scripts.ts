import { readFile } from 'node:fs/promises'
import { packageFile } from '../../package-file.ts'
import { renderer } from '../render/text.ts'
import type { Suggestion } from './parse.ts'
import type { Completion } from './complete.ts'

/** Each shell's script in `fixtures/completion`. */
const files = {
  bash: 'tabwire.bash',
  zsh: 'tabwire.zsh',
  fish: 'tabwire.fish',
  powershell: 'tabwire.ps1',
} as const

export type Shell = keyof typeof files
export const shells = Object.keys(files) as Shell[]

/** Returns the script that makes a shell ask `tabwire complete` when the tab key is pressed. */
export async function shellScript(shell: Shell): Promise<string> {
  return readFile(packageFile(`fixtures/completion/${files[shell]}`), 'utf8')
}

/** Last line of an answer: 4 keeps a shell from completing files. The protocol is that of cobra, a Go library. */
const NO_FILES = ':4'
const FILES = ':0'

/** Returns one suggestion per line, with its description after a tab, and at the end whether files are possible, too. */
export const renderCompletion = renderer(
  ({ typed, suggestions, kind }: Completion, further: readonly Suggestion[]): string => {
    const lines = [...suggestions, ...further]
      .filter(({ value }) => value.startsWith(typed))
      .map(({ value, description }) => `${value}${description === '' ? '' : `\t${printable(description)}`}\n`)
    return `${lines.join('')}${kind === 'file' || kind === 'scenario' ? FILES : NO_FILES}\n`
  },
)

/** Replaces control characters: descriptions hold names from other programs, and are written to a terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, ' ')
}
