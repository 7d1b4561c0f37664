import { Flags } from '@oclif/core'
import { BaseCommand } from '../../cli/base-command.ts'
import { dataDirectoryIn } from '../../cli/config/settings.ts'
import { CONFIG_FILE, type ConfigFile, readConfigFile, settingsIn } from '../../cli/config/file.ts'
import { CommandError } from '../../cli/errors.ts'
import { fromEnvironment } from '../../cli/flags.ts'
import { renderFields } from '../../cli/render/layout.ts'
import { requireOwnDirectory } from '../../cli/trust/data-directory.ts'
import { markAsOwn, secretsNotMadeHere } from '../../cli/trust/made-here.ts'
import { trust } from '../../cli/trust/installation.ts'

export default class ConfigTrust extends BaseCommand {
  static override description =
    'Trust the settings and data directory of this folder.\nUntil then, tabwire.config.json cannot set keys, hosts, the data directory or output files, and `start` warns about keys made elsewhere. A change of the file ends the trust.'
  static override examples = ['<%= config.bin %> config trust']
  static override flags = fromEnvironment({
    'data-dir': Flags.string({
      description: 'Data directory (default: the one of this folder).',
      helpGroup: 'CONNECTION',
    }),
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(ConfigTrust)
    const file = await readConfigFile(undefined)
    const named = flags['data-dir']
    const directory = named ?? (await dataDirectoryIn(file))
    await requireOwnDirectory(directory, { named: named !== undefined })
    if (file !== undefined) await trust(file).catch(unkept)
    const secrets = await secretsNotMadeHere(directory)
    if (secrets.length > 0) await markAsOwn(directory)
    if (file === undefined && secrets.length === 0)
      throw new CommandError(
        'nothing_to_trust',
        `Nothing to trust: this folder has no ${CONFIG_FILE}, and ${directory} has no data from elsewhere.`,
      )
    const settings = file === undefined ? [] : allSettingsIn(file)
    const trusted = {
      config: file?.path ?? null,
      settings,
      data_dir: secrets.length > 0 ? directory : null,
    }
    this.print(trusted, () =>
      renderFields([
        ...(file === undefined
          ? []
          : [['settings', `${file.path}: ${settings.join(', ') || 'none'}`] as const]),
        ...secrets.map((secret) => ['data', `${directory}: ${secret}`] as const),
      ]),
    )
  }
}

/** Returns the names of all settings that become trusted; each profile has its own. */
function allSettingsIn(file: ConfigFile): string[] {
  const { listen, profiles } = file.content
  const named = typeof profiles === 'object' && profiles !== null ? Object.keys(profiles) : []
  return [
    ...settingsIn(file),
    ...(listen === undefined ? [] : ['listen']),
    ...named.map((name) => `profiles.${name}`),
  ]
}

function unkept(error: unknown): never {
  const { code } = error as NodeJS.ErrnoException
  throw new CommandError(
    'unwritable_state',
    `Cannot save the trust (${code}). Pass --config ${CONFIG_FILE} to each command instead.`,
  )
}
