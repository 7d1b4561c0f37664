import { Flags } from '@oclif/core'
import { BaseCommand } from '../../cli/base-command.ts'
import { dataDirectoryIn } from '../../cli/config/settings.ts'
import { CONFIG_FILE, readConfigFile, settingsIn } from '../../cli/config/file.ts'
import { CommandError } from '../../cli/errors.ts'
import { DEFAULT_DIRECTORY, fromEnvironment } from '../../cli/flags.ts'
import { renderFields } from '../../cli/render/text.ts'
import { requireOwnDirectory } from '../../cli/trust/data-directory.ts'
import { markAsOwn, secretsNotMadeHere } from '../../cli/trust/made-here.ts'
import { trust } from '../../cli/trust/installation.ts'

export default class ConfigTrust extends BaseCommand {
  static override description =
    'Trust the settings and data directory of this folder.\nUntil you do, tabwire.config.json cannot set keys, hosts, the data directory or files to write, and a start names keys that were made elsewhere. Trust in the file ends when it changes.'
  static override examples = ['<%= config.bin %> config trust']
  static override flags = fromEnvironment({
    'data-dir': Flags.string({
      description: 'The data directory; by default the one of this folder.',
      helpGroup: 'CONNECTION',
    }),
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(ConfigTrust)
    const file = await readConfigFile(undefined)
    if (file !== undefined) await trust(file).catch(unkept)
    const named = flags['data-dir']
    const directory = named ?? (await dataDirectoryIn(undefined)) ?? DEFAULT_DIRECTORY
    await requireOwnDirectory(directory, { named: named !== undefined })
    const secrets = await secretsNotMadeHere(directory)
    if (secrets.length > 0) await markAsOwn(directory)
    if (file === undefined && secrets.length === 0)
      throw new CommandError(
        'nothing_to_trust',
        `There is nothing to trust: no ${CONFIG_FILE} here, and nothing in ${directory} that was made elsewhere.`,
      )
    const settings = file === undefined ? [] : settingsIn(file)
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

function unkept(error: unknown): never {
  const { code } = error as NodeJS.ErrnoException
  throw new CommandError(
    'unwritable_state',
    `Your trust cannot be remembered (${code}). Name the file at each command instead: --config ${CONFIG_FILE}`,
  )
}
