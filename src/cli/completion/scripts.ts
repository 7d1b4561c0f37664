import { script } from '@bomb.sh/tab'
import type { Completion } from './suggest.ts'
import type { Suggestion } from './parse.ts'
import { renderer } from '../render/text.ts'

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

/**
 * For bash, from 3.2, as macOS has it, without the package bash-completion. What comes back is compared and handed over as it
 * is: `compgen -W` would expand it, and run what stands in it.
 */
export const bashScript = `# bash completion of tabwire
_tabwire() {
  local line files=yes typed="\${COMP_WORDS[COMP_CWORD]}"
  [[ "$typed" == [=:] ]] && typed=
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :4) files= ;;
      :*) ;;
      "$typed"*) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(tabwire complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  [[ -n "$files" ]] || compopt +o default 2>/dev/null || :
}
complete -o default -F _tabwire tabwire
`

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
