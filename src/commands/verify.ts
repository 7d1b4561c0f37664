import { Flags } from '@oclif/core'
import { exitCodes, usageError } from '../cli/errors.ts'
import { fromEnvironment, knownServiceNameFlag, secretFromFileFlag, timeFlag } from '../cli/flags.ts'
import { inputName, readInput } from '../cli/files/input.ts'
import { noSecret, SECRET_REQUIRED } from '../cli/files/secrets.ts'
import { renderCounts, renderVerification } from '../cli/render/results.ts'
import { ServiceCommand } from '../cli/service-command.ts'
import {
  countOutcomes,
  outcomeJson,
  parseMany,
  parseRawRequest,
  requireNoUtf16,
  valuesOf,
  verifyAndDiagnose,
  type VerifyOutcome,
} from '../cli/verify.ts'
import { signatureHeader } from '../model/text/service-name.ts'
import type { DiagnoseOptions } from '../signature/index.ts'

/** The end of the times that `--now` accepts: those with a year of four digits. Milliseconds as seconds are later. */
const END = Date.UTC(10_000, 0)

type VerifyInput = Pick<DiagnoseOptions, 'payload' | 'header' | 'headers' | 'now'>
type Sources = Parameters<Verify['connect']>[0] &
  Record<'header' | 'request' | 'delivery', string | undefined> &
  Record<'service-name', string | undefined> & { body: string; now: Date | undefined }
type Settings = Omit<DiagnoseOptions, keyof VerifyInput> & { now: Date }

export default class Verify extends ServiceCommand {
  static override description =
    'Verify the signature of a delivery, offline.\nExit 0 when it is valid, otherwise 3. Explains known mistakes.'
  static override examples = [
    "<%= config.bin %> verify --secret whsec_… --header 't=1763748245,v1=5f2b…' --body delivery.json",
    "<%= config.bin %> verify --header 't=1763748245,v1=5f2b…' --body delivery.json   # the secret in TABWIRE_SECRET",
    '<%= config.bin %> verify --secret-file webhook.secret --request captured.http',
    '<%= config.bin %> verify --secret-file webhook.secret --delivery dlv_01K9YQ3S2M6W5VJ8T4R7N0ZBCD   # checks the secret',
    '<%= config.bin %> verify --secret-file webhook.secret --many deliveries.ndjson',
  ]
  static override flags = fromEnvironment({
    secret: Flags.string({
      description: `Signing secret of the endpoint; further ones are secrets of other endpoints. ${SECRET_REQUIRED}`,
      multiple: true,
      multipleNonGreedy: true,
    }),
    'secret-file': secretFromFileFlag("the endpoint's signing secret"),
    header: Flags.string({
      description: 'Value of the signature header.',
      exclusive: ['request', 'many'],
    }),
    body: Flags.string({
      description: 'Raw body as received: a file, or - for standard input.',
      default: '-',
      exclusive: ['request', 'delivery', 'many'],
    }),
    delivery: Flags.string({
      description:
        'Verify the body of this delivery and, without --header, the header of its latest attempt.',
      exclusive: ['request', 'many'],
    }),
    request: Flags.string({
      description: 'Raw HTTP request with headers and body: a file, or - for standard input.',
      exclusive: ['many'],
    }),
    many: Flags.string({
      description: 'Verify many: a file, or -, with one JSON object {"header", "body"} per line.',
    }),
    tolerance: Flags.integer({
      description: 'Seconds allowed between t and now, in both directions; 0 or more.',
      min: 0,
      default: 300,
    }),
    now: timeFlag({ description: 'Verify at this time, in Unix seconds or ISO 8601 (default: now).' }),
    'service-name': knownServiceNameFlag(),
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(Verify)
    if (flags.secret === undefined) throw noSecret()
    const [secret = '', ...others] = secretsFrom(flags.secret)
    const now = flags.now ?? new Date()
    if (now.getTime() >= END)
      throw usageError(
        `--now is in the year ${now.getUTCFullYear()}. Pass Unix seconds, not milliseconds: leave out the last three digits.`,
      )
    const settings = { secret, others, tolerance: flags.tolerance, now }
    if (flags.many !== undefined) return this.verifyMany(await readInput(flags.many), settings)
    const outcome = await verifyAndDiagnose({ ...settings, ...(await this.given(flags)) })
    this.print(outcomeJson(outcome), () => renderVerification(outcome, settings.now))
    if (!outcome.result.ok) process.exitCode = exitCodes.checkFailed
  }

  private async given(flags: Sources): Promise<VerifyInput> {
    const { header, request, delivery } = flags
    if (request !== undefined) return fromRequest(request, await this.serviceName(flags))
    if (delivery !== undefined) return this.fromDelivery(delivery, flags)
    if (header !== undefined) return { header, payload: await readInput(flags.body) }
    throw usageError('Nothing to verify. Pass --header, --request, --delivery or --many.')
  }

  /** Verifies a sent request at the time of sending: only reception can be late. */
  private async fromDelivery(id: string, flags: Sources): Promise<VerifyInput> {
    const client = await this.connect(flags)
    const { event_id } = await client.deliveries.get(id)
    const payload = Buffer.from((await client.events.get(event_id)).body)
    if (flags.header !== undefined) return { payload, header: flags.header }
    const { signature } = await client.deliveries.signature(id)
    const sentAt = new Date(Number(/^t=(\d+)/.exec(signature)?.[1]) * 1000)
    return { payload, header: signature, ...(flags.now === undefined && { now: sentAt }) }
  }

  /** Verifies the rest without output: the exit code says whether one is wrong. */
  protected override abandoned(): void {}

  /** Prints one line per signature, then the totals. */
  private async verifyMany(file: Buffer, settings: Settings): Promise<void> {
    await requireNoUtf16(file, '--many: the file')
    const lines = parseMany(file)
    if (lines.length === 0) throw usageError('--many: the file contains no deliveries.')
    const outcomes: VerifyOutcome[] = []
    for (const { number, ...given } of lines) {
      const outcome = await verifyAndDiagnose({ ...settings, ...given })
      outcomes.push(outcome)
      this.printLine(
        { line: number, ...outcomeJson(outcome) },
        () => `${number}: ${renderVerification(outcome, settings.now)}`,
      )
    }
    const totals = countOutcomes(outcomes)
    this.printLine({ totals }, () => renderCounts(totals))
    if (totals.wrong > 0) process.exitCode = exitCodes.checkFailed
  }
}

async function fromRequest(file: string, serviceName: string): Promise<VerifyInput> {
  const [capture, source] = [await readInput(file), inputName(file)]
  await requireNoUtf16(capture, `--request: ${source}`)
  const { headers, body } = parseRawRequest(capture, source)
  const values = valuesOf({ headers }, signatureHeader(serviceName))
  return { payload: body, headers, header: values.length > 1 ? values : values[0] }
}

/**
 * From the environment, oclif passes the secrets as one text. White space around a secret stays, since it may be the
 * mistake.
 */
function secretsFrom(secrets: string | readonly string[]): readonly string[] {
  return typeof secrets === 'string' ? secrets.split(',') : secrets
}
