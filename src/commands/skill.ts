import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { usageError } from '../cli/errors.ts'
import { fromEnvironment } from '../cli/flags.ts'
import { readAgentFile, writeSkill } from '../cli/files/output.ts'

export default class Skill extends BaseCommand {
  static override description =
    'Print a skill for coding agents, or write it.\nThe text is a SKILL.md in the Agent Skills format, with the commands that matter most. Run `help agents` for more.'
  static override examples = [
    '<%= config.bin %> skill',
    '<%= config.bin %> skill --write .claude/skills   # writes .claude/skills/tabwire/SKILL.md',
    '<%= config.bin %> skill --llms > llms.txt',
  ]
  static override flags = fromEnvironment({
    write: Flags.string({
      description: 'Write the skill to tabwire/SKILL.md in this folder of skills.',
      exclusive: ['llms'],
    }),
    force: Flags.boolean({
      description: 'Replace a file that differs.',
      dependsOn: ['write'],
    }),
    llms: Flags.boolean({ description: 'Print llms.txt instead: an index of the guides and the API.' }),
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(Skill)
    if (flags.write === undefined) {
      const name = flags.llms ? 'llms.txt' : 'SKILL.md'
      const text = await readAgentFile(name)
      if (this.wantsJson) return this.print({ file: name, text }, () => text)
      return this.write(text)
    }
    if (flags.write === '-')
      throw usageError('--write must be a folder, got "-". Without it, the skill is printed.')
    const { file, written } = await writeSkill(flags.write, flags.force)
    this.print({ file, written }, () => (written ? `Wrote ${file}.` : `${file} is up to date.`))
  }
}
