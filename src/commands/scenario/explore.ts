import { basename } from 'node:path'
import { Args, Flags } from '@oclif/core'
import { readAuthorityCertificate } from '../../certificates/authority.ts'
import { BaseCommand } from '../../cli/base-command.ts'
import {
  receiverAuthorities,
  receiverUrl,
  requireUsableSecret,
  stateCheck,
  stateFlags,
} from '../../cli/conformance/receiver.ts'
import { CommandError, exitCodes, usageError } from '../../cli/errors.ts'
import { expandFiles, inputName } from '../../cli/files/input.ts'
import {
  fromEnvironment,
  jsonFlag,
  knownServiceNameFlag,
  outputFileFlag,
  placeFlags,
  profileFlag,
  secretFromFileFlag,
} from '../../cli/flags.ts'
import { readSample } from '../../cli/push/samples.ts'
import { createInputReader, externalIdOfFile, withBodies } from '../../cli/push/source.ts'
import { renderExploration } from '../../cli/render/steps.ts'
import { explore, type Exploration } from '../../cli/scenario/explore/explore.ts'
import { historiesOf, isOrdered, type History } from '../../cli/scenario/explore/history.ts'
import { outputFile, writeScenario } from '../../cli/scenario/files.ts'
import { learnBy } from '../../cli/scenario/receiver.ts'
import { createClient } from '../../client.ts'
import { createAgreement } from '../../conformance/receiver/agreement.ts'
import { NotJudged, type StateSource } from '../../conformance/receiver/convergence/state-view.ts'
import { eventTypes } from '../../model/event.ts'
import { ORDER_BY, orderFieldIssue } from '../../model/revision.ts'
import { startSimulator } from '../../simulator.ts'

/** Samples of several pushes, which leave something to explore. */
const SAMPLES = ['bar-tab', 'void', 'close', 'move-to-another-table']

interface Receiver {
  url: URL
  secret: string
  state: StateSource
}

export default class ScenarioExplore extends BaseCommand {
  static override description =
    'Search for a sequence of steps that breaks an invariant.\nPlays random runs around your pushes in a service in memory: late and repeated pushes, lost responses, guests, delivery faults and clock moves. After each run, balances must add up, and no claim or payment may be lost. The newest push must be the state, and the view of your receiver must agree.\nA counterexample is shrunk to a few steps and written as a scenario file, which `scenario run` repeats.\nExit 3 when there is a counterexample, 1 when the receiver cannot be reached or read.'
  static override examples = [
    '<%= config.bin %> scenario explore',
    '<%= config.bin %> scenario explore --id table-12 pushes/*.json',
    '<%= config.bin %> scenario explore --receiver http://localhost:3000/webhooks --secret-file listen.secret --state-url "http://localhost:3000/checks/{external_check_id}"',
  ]
  static override strict = false
  static override args = {
    file: Args.string({
      ignoreStdin: true,
      description: 'JSON file with a push, or an array of them, in order (default: built-in samples).',
    }),
  }
  static override baseFlags = { ...jsonFlag, ...placeFlags, ...profileFlag }
  static override flags = fromEnvironment({
    id: Flags.string({ description: 'External id of the check (default: the file name without .json).' }),
    sample: Flags.string({ description: 'Explore this built-in sample; `checks samples` lists them.' }),
    receiver: Flags.string({
      description: 'URL of your receiver: https:, or http: on this machine.',
    }),
    secret: Flags.string({ description: 'Signing secret of the receiver: whsec_…' }),
    'secret-file': secretFromFileFlag('the signing secret'),
    ...stateFlags,
    cacert: Flags.string({
      description: "PEM file of the receiver's certificate authority.",
      multiple: true,
      multipleNonGreedy: true,
    }),
    insecure: Flags.boolean({
      description: 'Accept any certificate of the receiver. Environment variable: TABWIRE_RECEIVER_INSECURE.',
      env: 'TABWIRE_RECEIVER_INSECURE',
      default: false,
    }),
    'service-name': knownServiceNameFlag(),
    'order-by': Flags.string({ description: 'Push field that orders updates.', default: ORDER_BY }),
    runs: Flags.integer({
      description: 'Number of runs, 1 to 1,000,000.',
      min: 1,
      max: 1_000_000,
      default: 500,
    }),
    seed: Flags.integer({
      description: 'Random seed of the runs.',
      min: -2_147_483_648,
      max: 2_147_483_647,
      default: 1,
    }),
    out: outputFileFlag({
      description: 'File for the counterexample (default: a new tabwire-counterexample.json).',
    }),
    force: Flags.boolean({
      description: 'Replace the file of --out, or tabwire-counterexample.json, if it exists.',
      default: false,
    }),
  })

  private readonly ending = new AbortController()

  /** The first Ctrl-C ends the search and prints its result; a second one exits at once. */
  protected override interrupted(): void {
    if (this.ending.signal.aborted) super.interrupted()
    this.ending.abort()
  }

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(ScenarioExplore)
    const orderIssue = orderFieldIssue(flags['order-by'])
    if (orderIssue !== undefined)
      throw usageError(`--order-by must be a field that orders pushes: ${orderIssue}.`)
    const histories = await readHistories(argv as string[], flags)
    const receiver = await receiverOf(flags)
    const out = await outputFile(flags.out, flags.force)
    if (argv.length > 0) this.tellLimits(histories)
    const exploration = await this.search(histories, receiver, flags)
    const { counterexample, interrupted } = exploration
    const isWritten =
      counterexample !== null && (await this.writeAlso(() => writeScenario(out, counterexample.scenario)))
    const file = isWritten ? out : null
    this.print({ ...exploration, file }, (columns) => renderExploration(exploration, file, columns))
    if (interrupted) process.exitCode = exitCodes.interrupted
    else if (counterexample !== null) process.exitCode = exitCodes.checkFailed
  }

  private async search(
    histories: readonly History[],
    receiver: Receiver | undefined,
    flags: Searched,
  ): Promise<Exploration> {
    const { signal } = this.ending
    const { runs, seed, 'order-by': orderBy } = flags
    const serviceName = await this.serviceName({ ...flags, cacert: undefined })
    const simulator = await startSimulator({
      cacert: await authoritiesOf(flags),
      insecure: flags.insecure,
      port: false,
      network: 'any',
      // The identifiers of another exploration would be known to the receiver already.
      seed: receiver === undefined ? 1 : Math.floor(performance.timeOrigin + performance.now()),
      clock: receiver === undefined ? undefined : new Date(),
      allowHttpLoopback: true,
      disableAfter: 0,
      serviceName,
      orderBy,
    })
    const agreement = receiver && createAgreement(receiver.state, signal)
    try {
      const client = createClient(simulator)
      if (receiver !== undefined && agreement !== undefined) {
        const { url, secret: signing_secret } = receiver
        await client.endpoints.createWithSecret({
          url: url.href,
          event_types: [...eventTypes],
          signing_secret,
        })
        await this.waiting('Reading the view of the receiver', learnBy(client, agreement, orderBy))
      }
      return await this.progressing((tell) =>
        explore({ client, histories, orderBy, agreement, runs, seed, signal, tell }),
      )
    } catch (error) {
      if (signal.aborted) this.exit(exitCodes.interrupted)
      throw error instanceof NotJudged ? new CommandError('not_judged', error.message) : error
    } finally {
      await agreement?.close()
      await simulator.close()
    }
  }

  private tellLimits(histories: readonly History[]): void {
    if (histories.every(({ pushes }) => pushes.length === 1))
      this.say(
        'Each push is for another check, so their order is not explored. For pushes of one check, pass --id.',
      )
    const unordered = histories.filter((history) => !isOrdered(history)).map(({ check }) => check)
    if (unordered.length > 0)
      this.say(
        `Late pushes are not explored for ${unordered.join(', ')}: not every push has a revision, so a late one replaces the newest state.`,
      )
  }
}

interface Searched {
  runs: number
  seed: number
  'order-by': string
  'service-name': string | undefined
  'data-dir': string
  cacert: string[] | undefined
  insecure: boolean
}

async function authoritiesOf(flags: Pick<Searched, 'data-dir' | 'cacert'>): Promise<string[]> {
  return receiverAuthorities(await readAuthorityCertificate(flags['data-dir']), flags.cacert)
}

/** Reads the pushes of files, of a sample, or of the built-in samples. */
async function readHistories(
  words: readonly string[],
  {
    id,
    sample,
    'order-by': orderBy,
  }: { id: string | undefined; sample: string | undefined; 'order-by': string },
): Promise<History[]> {
  if (words.length > 0 && sample !== undefined) throw usageError('Pass files or --sample, not both.')
  if (words.length === 0 && sample === undefined && id !== undefined)
    throw usageError('--id needs files or --sample. The built-in samples have their own ids.')
  const samples = words.length > 0 ? [] : sample === undefined ? SAMPLES : [sample]
  const ofSamples = await Promise.all(samples.map(async (name) => readSample(name, '--sample')))
  const sources = [
    ...ofSamples.flatMap(({ name, files }) => files.map((file) => ({ file, id: id ?? name }))),
    ...(await expandFiles(words)).map((file) => ({ file, id: id ?? externalIdOfFile(file) })),
  ]
  const pushes = await withBodies(sources, createInputReader())
  const texts = pushes.map(({ file, id: check, body, element }) => {
    const name = basename(inputName(file))
    return {
      id: check,
      name: element === undefined ? name : `${name}, push ${element}`,
      body: Buffer.from(body).toString(),
    }
  })
  return historiesOf(texts, orderBy)
}

/** @throws CommandError (usage) for a receiver or a state URL without the other one. */
async function receiverOf(
  flags: Pick<Searched, 'data-dir' | 'cacert' | 'insecure' | 'seed'> & {
    receiver: string | undefined
    secret: string | undefined
    'state-url': string | undefined
    'state-header': string[] | undefined
  },
): Promise<Receiver | undefined> {
  const { receiver, secret, 'state-url': stateUrl } = flags
  if (receiver === undefined && stateUrl === undefined) return undefined
  if (receiver === undefined)
    throw usageError('--state-url also needs --receiver: the URL that gets the deliveries.')
  if (stateUrl === undefined)
    throw usageError('--receiver also needs --state-url: a URL that returns the stored state of a check.')
  if (secret === undefined)
    throw usageError('--receiver also needs --secret or --secret-file: its signing secret.')
  requireUsableSecret(secret)
  const state = stateCheck(flags, { ca: await authoritiesOf(flags), insecure: flags.insecure })
  return state && { url: receiverUrl(receiver, '--receiver'), secret, state }
}
