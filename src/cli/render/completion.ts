import type { Completion } from '../completion/suggest.ts'
import type { Suggestion } from '../completion/tree.ts'
import { renderer } from './text.ts'

/** Of the protocol of @bomb.sh/tab, which is cobra's: 4 keeps a shell from completing files. */
const NO_FILES = ':4'
const FILES = ':0'

/** One suggestion per line, with its description behind a tab, and at the end whether files will do, too. */
export const renderCompletion = renderer(
  ({ typed, suggestions, kind }: Completion, further: readonly Suggestion[]): string => {
    const lines = [...suggestions, ...further]
      .filter(({ value }) => value.startsWith(typed))
      .map(({ value, description }) => `${value}${description === '' ? '' : `\t${printable(description)}`}\n`)
    return `${lines.join('')}${kind === 'file' || kind === 'scenario' ? FILES : NO_FILES}\n`
  },
)

/** Names in a description are anybody's text, and go to a terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, ' ')
}
