import { Args } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { shells, shellScript, type CompletionShell } from '../cli/completion/complete.ts'

export default class Completion extends BaseCommand {
  static override description =
    'Print a completion script for a shell.\nIt completes commands, flags and values, including ids of the running service.'
  static override examples = [
    '<%= config.bin %> completion bash',
    `eval "$(<%= config.bin %> completion bash)"   # in ~/.bashrc`,
    `source <(<%= config.bin %> completion zsh)    # in ~/.zshrc, after compinit`,
    '<%= config.bin %> completion fish > ~/.config/fish/completions/tabwire.fish   # once',
    '<%= config.bin %> completion powershell | Out-String | Invoke-Expression   # in $PROFILE',
  ]
  static override args = {
    shell: Args.string({
      description: 'Name of the shell.',
      options: [...shells],
      required: true,
    }),
  }

  async run(): Promise<void> {
    const { args } = await this.parse(Completion)
    const script = await shellScript(args.shell as CompletionShell)
    if (this.wantsJson) this.print({ shell: args.shell, script }, () => script)
    else this.write(script)
  }
}
