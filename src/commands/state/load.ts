import { limitOf, timeoutFlag } from '../../cli/flags.ts'
import { renderState } from '../../cli/render/controls.ts'
import { ServiceCommand } from '../../cli/service-command.ts'
import { stateFile, placeOf, readStateFrom, stateArgs, stateFileFlags } from '../../cli/files/state-files.ts'
import { ApiError } from '../../client.ts'

export default class StateLoad extends ServiceCommand {
  static override description =
    'Replace all data with a saved state.\nSets the clock to the saved time, even backwards. API keys stay unchanged.'
  static override examples = [
    '<%= config.bin %> state load third-retry',
    '<%= config.bin %> state load --file test/fixtures/third-retry.json',
  ]
  static override args = stateArgs
  static override flags = { ...stateFileFlags, ...timeoutFlag }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(StateLoad)
    const place = placeOf(args.name, flags)
    const state = await readStateFrom(place)
    const client = await this.connect(flags)
    const loading = this.waiting('Loading…', client.state.load(state, limitOf(flags)))
    const report = await loading.catch((error: unknown) => {
      if (error instanceof ApiError) {
        const outcome =
          error.status < 500
            ? 'was not loaded. Nothing was changed:'
            : 'may not have been loaded. Look at the checks before you load it again:'
        this.say(`${stateFile(place)} ${outcome}`.replace(/^- /, 'Standard input '))
      }
      throw error
    })
    this.print(report, () => renderState(report))
  }
}
