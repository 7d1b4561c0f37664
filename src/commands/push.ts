import { normalize } from 'node:path'
import { Args, Flags } from '@oclif/core'
import { CommandError, exitCodes } from '../cli/errors.ts'
import { fromEnvironment } from '../cli/flags.ts'
import { expandFiles, readUnmarked, watchFiles } from '../cli/files/input.ts'
import { readSample } from '../cli/push/samples.ts'
import {
  pushReportOf,
  externalIdOfFile,
  nameOf,
  sentCheck,
  createInputReader,
  requireSource,
  withBodies,
  withoutSchema,
  type SourcedPush,
} from '../cli/push/source.ts'
import { hasFields } from '../cli/render/foreign.ts'
import { renderConvergence, renderPush } from '../cli/render/push.ts'
import { placeOfError } from '../model/text/advice.ts'
import { count } from '../model/text/count.ts'
import { ServiceCommand, typedAs } from '../cli/service-command.ts'
import { ApiError, createClient, Unreachable, type Client } from '../client.ts'
import { TRIAL_PREFIX } from '../model/simulator/request-entry.ts'
import { byCheck, permute, pushesInLog, type RecordedPush, shuffled } from '../assertions/convergence.ts'

export default class Push extends ServiceCommand {
  static override description =
    'Push checks from JSON files.\nEach file holds the full state of a check, or an array of them, as `checks samples` prints. Prints the outcome and the item diff. The file - is standard input.'
  static override examples = [
    '<%= config.bin %> push --sample two-top',
    'cat check.json | <%= config.bin %> push - --id table-12',
    '<%= config.bin %> push --sample bar-tab --shuffle 7 --repeat 2',
    '<%= config.bin %> push check.json --watch',
    '<%= config.bin %> push --from-log --permute 50   # compares the results of 50 orders',
  ]
  static override strict = false
  static override typedAs = typedAs({ external_check_id: '--id' })
  static override args = {
    file: Args.string({
      ignoreStdin: true,
      description: 'JSON file with a check; several are pushed in order.',
    }),
  }
  static override flags = fromEnvironment({
    id: Flags.string({
      description:
        'External id of the check, at most 255 characters (default: the name of the sample, or of the file without .json).',
    }),
    sample: Flags.string({
      description: 'Push this built-in sample; `checks samples` lists them.',
      exclusive: ['watch'],
    }),
    watch: Flags.boolean({
      description: 'Push again whenever a file changes, until Ctrl-C.',
      exclusive: ['repeat', 'shuffle'],
    }),
    repeat: Flags.integer({
      description: 'Push everything this many times, at least 1.',
      min: 1,
      default: 1,
    }),
    shuffle: Flags.integer({
      description: 'Push in a random order from this seed, 0 or more.',
      min: 0,
    }),
    permute: Flags.integer({
      description:
        'Try this many other orders, 1 to 10,000, in a separate service in memory; exit 3 when the results differ.',
      min: 1,
      max: 10_000,
      exclusive: ['watch', 'repeat', 'shuffle'],
    }),
    seed: Flags.integer({
      description:
        'Seed for the orders of --permute, 0 or more (default: 1). Environment variable: TABWIRE_PERMUTE_SEED.',
      env: 'TABWIRE_PERMUTE_SEED',
      min: 0,
      dependsOn: ['permute'],
    }),
    'from-log': Flags.boolean({
      description:
        'Repeat the pushes that the service accepted since its start; with --id, those of one check.',
      exclusive: ['watch'],
    }),
  })

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(Push)
    const files = argv as string[]
    requireSource(files, flags)
    const inFiles = await this.inFiles(files, flags)
    const client = await this.connect(flags)
    const once = flags['from-log']
      ? (await this.recorded(client, flags)).map(({ name, ...push }) => ({ ...push, file: name }))
      : inFiles
    const every = await withBodies(once, createInputReader())
    if (flags.permute !== undefined) {
      const pushes = every.map(({ file, id, location_id, body }) => ({ id, location_id, name: file, body }))
      return this.permuteAll(client, pushes, flags.permute, flags.seed ?? 1)
    }
    const inOrder = Array.from({ length: flags.repeat }, () => every).flat()
    const pushes = flags.shuffle === undefined ? inOrder : shuffled(inOrder, flags.shuffle)
    const several = pushes.length > 1 || flags.watch
    for (const push of pushes)
      try {
        await this.pushOne(client, push, several)
      } catch (error) {
        // A refused file can be corrected while it is watched.
        if (flags.watch && error instanceof ApiError) await this.report(error, push)
        else {
          if (several) this.say(`Stopped at ${nameOf(push)}. Nothing was pushed after it:`)
          throw error
        }
      }
    if (flags.watch) await this.watch(this.reconnect(flags), once)
  }

  /** Returns the files to push, each with the external id of its check. */
  private async inFiles(
    words: readonly string[],
    { sample, id }: { sample: string | undefined; id: string | undefined },
  ): Promise<{ file: string; id: string }[]> {
    if (sample !== undefined)
      return (await readSample(sample, '--sample')).files.map((file) => ({ file, id: id ?? sample }))
    return (await expandFiles(words)).map((file) => ({ file, id: id ?? externalIdOfFile(file) }))
  }

  /** Returns the pushes to repeat: those of the key's location, which gets them, or with `permute` all. */
  private async recorded(
    client: Client,
    { id, permute: orders }: { id: string | undefined; permute: number | undefined },
  ): Promise<RecordedPush[]> {
    const { pushes: all, lost } = await pushesInLog(client, id)
    if (lost > 0)
      this.say(`Not repeated: ${count(lost, 'push', 'pushes')} that the request log no longer has.`)
    const own = orders === undefined && all.length > 0 ? (await client.account()).location_id : undefined
    const pushes = own === undefined ? all : all.filter(({ location_id = own }) => location_id === own)
    if (pushes.length < all.length)
      this.say(
        `Not repeated: ${count(all.length - pushes.length, 'push', 'pushes')} of other locations. Pass a key of theirs.`,
      )
    if (pushes.length === 0)
      throw new CommandError('nothing_recorded', 'The log has no push to repeat. Push a check first.')
    return pushes
  }

  private async permuteAll(client: Client, pushes: readonly RecordedPush[], orders: number, seed: number) {
    const checks = byCheck(pushes)
    if (checks.every(({ length }) => length === 1))
      this.say(
        pushes.length === 1
          ? 'There is one push, so there are no orders to compare.'
          : 'Each push is for another check, so there are no orders to compare. For files of one check, pass --id.',
      )
    const { trial, close } = await this.trialService(client)
    try {
      const currencies = await this.currencies(trial)
      for (const ofOne of checks) {
        const work = permute(trial, ofOne, { orders, seed })
        const convergence = await this.waiting(`Trying ${orders} orders`, work)
        this.printLine(convergence, () => renderConvergence(convergence, currencies))
        if (!convergence.converged) process.exitCode = exitCodes.checkFailed
      }
    } finally {
      await close()
    }
  }

  /**
   * Returns where orders are tried: a separate service in memory, so that receivers, reports and data of the running one
   * are not affected. A service that is not a simulator is the subject of the test, so the trials are pushed there.
   */
  private async trialService(client: Client): Promise<{ trial: Client; close(): Promise<void> }> {
    const ordering = await client.health().catch((error: unknown) => {
      if (error instanceof ApiError) return undefined
      if (error instanceof Unreachable) return { order_by: undefined }
      throw error
    })
    if (ordering === undefined) {
      this.say(
        `Trial checks are pushed to this service and stay there. Their ids start with ${TRIAL_PREFIX}.`,
      )
      return { trial: client, close: async () => undefined }
    }
    const { startSimulator } = await import('../simulator.ts')
    const simulator = await startSimulator({ port: false, orderBy: ordering.order_by })
    const { url, apiKey, fetch } = simulator
    return { trial: createClient({ url, apiKey, fetch }), close: () => simulator.close() }
  }

  private isWatching = false

  /** All files are pushed, also when the reader of the output has ended. */
  protected override abandoned(): void {
    if (this.isWatching) super.abandoned()
  }

  private async pushOne(client: Client, push: SourcedPush, several: boolean): Promise<void> {
    const { id, body } = push
    const { status, requestId, check } = await client.checks
      .push(id, withoutSchema(body))
      .catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 'invalid_json') addPlace(error, push)
        throw error
      })
    const report = requestId === null ? null : await pushReportOf(client, requestId)
    // The specification does not show the response of a push, so another service's summary is that of the pushed body.
    const isKnown =
      hasFields(check, 'external_id', 'items', 'table', 'totals', 'status') &&
      Array.isArray(check.items) &&
      typeof check.table.number === 'string' &&
      hasFields(check.totals, 'total_cents')
    const shown = isKnown ? check : sentCheck(id, body)
    const currencies = await this.currencies(client)
    const currency = hasFields(check, 'location_id') ? currencies[check.location_id] : undefined
    const render = (columns: number) => renderPush(shown, report, status, columns, currency)
    if (several) this.printLine(check, render)
    else this.print(check, render)
  }

  private async watch(
    connect: () => Promise<Client>,
    pushes: readonly { file: string; id: string }[],
  ): Promise<void> {
    this.isWatching = true
    const files = pushes.map(({ file }) => file)
    for await (const changed of watchFiles(files, () =>
      this.say('Watching for changes. Press Ctrl-C to stop.'),
    ))
      for (const { file, id } of pushes.filter((push) => normalize(push.file) === normalize(changed))) {
        // Reports an invalid file and keeps watching.
        const report = (push: Pick<SourcedPush, 'file' | 'element'>) => (error: unknown) =>
          this.report(error as Error, push)
        const found = await withBodies([{ file, id }], readUnmarked).catch(report({ file }))
        for (const push of found ?? [])
          await connect()
            .then((client) => this.pushOne(client, push, true))
            .catch(report(push))
      }
  }

  /** Prints why a push failed, after its place in an array of several. */
  private async report(error: Error, push: Pick<SourcedPush, 'file' | 'element'>): Promise<void> {
    if (push.element !== undefined) this.say(`Not pushed: ${nameOf(push)}.`)
    await this.catch(error)
  }
}

/** Adds to an error in which file, and where, the text stops being JSON, if it does. */
function addPlace(error: Error, push: SourcedPush): void {
  const place = placeOfError(Buffer.from(push.body).toString())
  if (place === undefined) return
  const told = `line ${place.line}, column ${place.column}`
  if (error.message.includes(told)) error.message = error.message.replace(told, `${told} of ${nameOf(push)}`)
  else error.message += ` The text stops being JSON at ${told} of ${nameOf(push)}.`
}
