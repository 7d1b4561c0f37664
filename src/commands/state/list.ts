import { BaseCommand } from '../../cli/base-command.ts'
import { placeFlags } from '../../cli/flags.ts'
import { renderSavedStates } from '../../cli/render/controls.ts'
import { savedStates } from '../../cli/files/state-files.ts'

export default class StateList extends BaseCommand {
  static override description = 'List saved states by name.\nNeeds no running service.'
  static override examples = ['<%= config.bin %> state list']
  static override flags = placeFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(StateList)
    const data = await savedStates(flags['data-dir'])
    this.print({ data }, (columns) => renderSavedStates(data, columns))
  }
}
