import { homedir } from 'node:os'
import { type Completion, lookUp, suggest, renderCompletion } from '../cli/completion/complete.ts'
import type { Suggestion } from '../cli/completion/parse.ts'
import { exitCodes, usageError } from '../cli/errors.ts'
import { ServiceCommand } from '../cli/service-command.ts'

/** Milliseconds that a person at a shell does not notice. */
const LOOK_UP_TIMEOUT_MS = 300

export default class Complete extends ServiceCommand {
  static override description = 'Print completions; called by completion scripts.'
  static override examples = ["<%= config.bin %> complete -- deliveries ''"]
  static override hidden = true
  static override strict = false

  async run(): Promise<void> {
    const at = this.argv.indexOf('--')
    if (at < 0) {
      const hint = 'This command is for completion scripts. Run `tabwire completion SHELL` to print one.'
      throw usageError(hint)
    }
    const words = this.argv.slice(at + 1)
    const completion = suggest(this.config, words)
    this.write(renderCompletion(completion, await this.further(completion)))
    // Exits without waiting for a slow answer.
    this.exit(exitCodes.done)
  }

  /** Returns the values to look up, with the flags typed so far. */
  private async further({ kind, given }: Completion): Promise<readonly Suggestion[]> {
    if (kind === undefined || kind === 'file') return []
    if (typeof kind === 'object') return kind.words.map((value) => ({ value, description: '' }))
    const placing = ['config', 'data-dir', 'profile', 'url', 'api-key', 'api-key-file', 'cacert'].flatMap(
      (name) => {
        const value = given.get(name) ?? ''
        // Shells leave ~ to the command that is typed.
        return value === '' ? [] : [`--${name}=${value.replace(/^~(?=[/\\])/, homedir())}`]
      },
    )
    // The profile is read from the words of the command.
    this.argv = placing
    const parsed = await this.parse(Complete, placing).catch(() => undefined)
    // Completion reports no usage errors and no untrusted directory.
    if (parsed === undefined) return []
    const { flags } = parsed
    return lookUp(
      kind,
      { connect: () => this.connect(flags), dataDirectory: flags['data-dir'], config: flags.config },
      LOOK_UP_TIMEOUT_MS,
    )
  }
}
