import { renderTable } from '../../cli/render/layout.ts'
import { printable } from '../../cli/render/text.ts'
import { readScenario } from '../../cli/scenario/files.ts'
import { shippedFile, shippedNames } from '../../cli/scenario/shipped.ts'
import { BaseCommand } from '../../cli/base-command.ts'

export default class ScenarioList extends BaseCommand {
  static override description = 'List the built-in scenarios.'
  static override examples = ['<%= config.bin %> scenario list']

  async run(): Promise<void> {
    await this.parse(ScenarioList)
    const names = await shippedNames()
    const scenarios = await Promise.all(
      names.map(async (name) => {
        const { title, description = null, steps } = await readScenario(shippedFile(name))
        return { name, title, description, steps: steps.length, file: shippedFile(name) }
      }),
    )
    const rows = scenarios.map(({ name, title, steps }) => [printable(name), String(steps), printable(title)])
    this.print({ data: scenarios }, (columns) =>
      renderTable(['name', 'steps', 'title'], rows, 'None.', columns),
    )
    this.say('Next: tabwire scenario run NAME')
  }
}
