import { limitOf, timeoutFlag } from '../../cli/flags.ts'
import { renderState } from '../../cli/render/controls.ts'
import { requireKind } from '../../cli/files/output.ts'
import { ServiceCommand } from '../../cli/service-command.ts'
import {
  stateFile,
  placeOf,
  stateArgs,
  stateFileFlags,
  wholeState,
  writeStateTo,
} from '../../cli/files/state-files.ts'
import { prepareDataDirectory } from '../../cli/trust/made-here.ts'

/** A saved state by its first bytes; a bundle has a clock, too. */
const STATE = /^(?![^]*"tabwire-bundle")[^]*"clock"\s*:\s*\{/

export default class StateSave extends ServiceCommand {
  static override description =
    'Save the state of the service under a name.\nIncludes checks, endpoints with their secrets, events, deliveries and the clock. Excludes API keys.'
  static override examples = [
    '<%= config.bin %> state save third-retry',
    '<%= config.bin %> state save --file test/fixtures/third-retry.json',
  ]
  static override args = stateArgs
  static override flags = { ...stateFileFlags, ...timeoutFlag }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(StateSave)
    const place = placeOf(args.name, flags)
    const client = await this.connect(flags)
    if ('directory' in place) await prepareDataDirectory(place.directory)
    const limit = limitOf(flags)
    if ('file' in place && place.file === '-')
      return client.state.read((json) => this.writeAll(wholeState(json)), limit)
    if ('file' in place) await requireKind(place.file, STATE, 'a saved state')
    const saving = client.state.read((json) => writeStateTo(place, json), limit)
    const { replaced, ...contents } = await this.waiting('Saving…', saving)
    const file = stateFile(place)
    const saved = { name: args.name ?? null, file, replaced, ...contents }
    this.print(saved, () => renderState(saved))
    const before = replaced ? ', replacing the previous state' : ''
    this.say(`Saved to ${file}${before}. The file contains signing secrets.`)
  }
}
