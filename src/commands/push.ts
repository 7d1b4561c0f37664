import { basename, normalize } from 'node:path'
import { Args, Flags } from '@oclif/core'
import { CommandError, exitCodes } from '../cli/failure.ts'
import { fromEnvironment } from '../cli/flags.ts'
import { readInput } from '../cli/input.ts'
import { renderPush } from '../cli/render/push.ts'
import { ServiceCommand } from '../cli/service-command.ts'
import { shuffled } from '../cli/shuffle.ts'
import { watchFiles } from '../cli/watch-files.ts'
import { ApiError, type Client } from '../client.ts'

export default class Push extends ServiceCommand {
  static override description =
    'Push checks, each as its full state in a file.\nShows the outcome and the item diff. The file - is standard input.'
  static override examples = [
    '<%= config.bin %> push fixtures/checks/two-top-with-notes.json',
    '<%= config.bin %> push - --id table-12 < check.json',
    '<%= config.bin %> push fixtures/checks/bar-tab/*.json --id bar-tab --shuffle 7 --repeat 2',
    '<%= config.bin %> push check.json --watch',
  ]
  static override strict = false
  static override args = {
    file: Args.string({
      ignoreStdin: true,
      description: 'A file with a check; several are pushed in order.',
      required: true,
    }),
  }
  static override flags = fromEnvironment({
    id: Flags.string({ description: "The check's external id; by default the file's name without .json." }),
    watch: Flags.boolean({
      description: 'Push again whenever a file changes, until Ctrl-C.',
      exclusive: ['repeat', 'shuffle'],
    }),
    repeat: Flags.integer({
      description: 'Push everything this many times: replays change nothing.',
      min: 1,
      default: 1,
    }),
    shuffle: Flags.integer({
      description: 'Push in an order drawn with this seed: revisions make any order converge.',
      min: 0,
    }),
  })

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(Push)
    const files = argv as string[]
    if (flags.watch && files.includes('-'))
      throw new CommandError('usage', 'Standard input cannot be watched. Pass files.', exitCodes.usage)
    const client = await this.connect(flags)
    const once = files.map((file) => ({ file, id: flags.id ?? idOf(file) }))
    const inOrder = Array.from({ length: flags.repeat }, () => once).flat()
    const pushes = flags.shuffle === undefined ? inOrder : shuffled(inOrder, flags.shuffle)
    const several = pushes.length > 1 || flags.watch
    const read = rememberingStandardInput()
    for (const { file, id } of pushes)
      await this.pushOne(client, id, await read(file), several).catch((error: unknown) => {
        if (several) this.say(`At ${file}, and nothing after it was pushed:`)
        throw error
      })
    if (flags.watch) await this.watch(client, once)
  }

  private async pushOne(client: Client, id: string, body: Buffer, several: boolean): Promise<void> {
    const { status, requestId, check } = await client.checks.push(id, body)
    const report = requestId === null ? null : await reportOf(client, requestId)
    if (several) this.printLine(check, () => renderPush(check, report, status))
    else this.print(check, () => renderPush(check, report, status))
  }

  private async watch(client: Client, pushes: readonly { file: string; id: string }[]): Promise<void> {
    const files = pushes.map(({ file }) => file)
    for await (const changed of watchFiles(files, () => this.say('Watching for changes; Ctrl-C ends it.')))
      for (const { file, id } of pushes.filter((push) => normalize(push.file) === normalize(changed)))
        // A file that is wrong for now is told of, and watched on.
        await readInput(file)
          .then((body) => this.pushOne(client, id, body, true))
          .catch((error: unknown) => this.catch(error as Error))
  }
}

function idOf(file: string): string {
  if (file === '-')
    throw new CommandError('usage', 'A check from standard input has no name. Pass --id.', exitCodes.usage)
  return basename(file).replace(/\.json$/i, '')
}

/** Standard input can be read once; a repeated push sends what it held again. */
function rememberingStandardInput() {
  let held: Promise<Buffer> | undefined
  return (file: string): Promise<Buffer> => (file === '-' ? (held ??= readInput('-')) : readInput(file))
}

/** What the simulator knows of the push beside its answer; nothing from another service, or without the scope. */
async function reportOf(client: Client, requestId: string) {
  try {
    return (await client.requests.get(requestId)).push
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}
