import { z } from 'zod'
import { chosenCases } from '../../cli/conformance/command.ts'
import { usageError } from '../../cli/errors.ts'
import { renderConformance, renderVerification } from '../../cli/render/results.ts'
import { outcomeJson, verifyAndDiagnose } from '../../cli/verify.ts'
import { checkReceiver, receiverCases } from '../../conformance/receiver/check.ts'
import { eventTypes } from '../../model/event.ts'
import { portOf } from '../../model/url.ts'
import { COLUMNS, adds, defineTool, LONGEST_CALL, reads, type ToolContext } from '../tool.ts'

const secret = z
  .string()
  .min(1)
  .optional()
  .describe('Signing secret of the endpoint, whsec_…. Not needed when `tabwire mcp` has TABWIRE_SECRET.')

const tolerance = (least: number) =>
  z.int().min(least).default(300).describe('Seconds allowed between t and now; 300 by default.')

/** @throws CommandError (usage) when neither the call nor the server has a secret. */
function requireSecret(given: string | undefined, context: ToolContext): string {
  const found = given ?? context.secret ?? ''
  // Not trimmed: white space around the secret is a mistake that a diagnosis names.
  if (found.trim() !== '') return found
  throw usageError(
    'secret is missing. Pass the signing secret of the endpoint, or start `tabwire mcp` with TABWIRE_SECRET.',
  )
}

export const verify = defineTool({
  name: 'verify',
  description:
    'Verify a signature offline, and name the mistake when it is wrong: for example a body that was parsed and serialized again.',
  input: z.strictObject({
    header: z.string().describe('Value of the signature header, t=…,v1=….'),
    body: z.string().optional().describe('Raw body exactly as the receiver verified it.'),
    body_base64: z
      .base64('must be Base64, with padding')
      .optional()
      .describe('The same in Base64, for bytes that are not text.'),
    secret,
    tolerance: tolerance(0),
    now: z.iso
      .datetime({
        offset: true,
        error: 'must be an ISO 8601 time with a time zone, such as 2026-11-21T18:00:00Z',
      })
      .optional()
      .describe('Verify at this time, ISO 8601; the current time by default.'),
  }),
  effects: reads,
  scopes: [],
  async run(context, { header, body, body_base64, secret: given, tolerance: seconds, now: at }) {
    if ((body === undefined) === (body_base64 === undefined))
      throw usageError('Pass either body or body_base64.')
    const now = at === undefined ? new Date() : new Date(at)
    const payload = body === undefined ? Buffer.from(body_base64 ?? '', 'base64') : Buffer.from(body)
    const key = requireSecret(given, context)
    const outcome = await verifyAndDiagnose({ header, payload, secret: key, tolerance: seconds, now })
    return { text: renderVerification(outcome, now), data: outcomeJson(outcome) }
  },
})

const STOPPED = `The check stopped after ${LONGEST_CALL} s. Select fewer cases with only, or run tabwire receiver check in a terminal.`

export const receiverCheck = defineTool({
  name: 'receiver_check',
  description:
    'Test a receiver: sends it valid, invalid and forged deliveries, and explains each failed case. The receiver stores the valid ones.',
  input: z.strictObject({
    url: z.string().min(1).describe('URL of the receiver: https:, or http: on this machine.'),
    secret,
    only: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe('Only these cases or groups: accepts, refuses, behaves, or group/case.'),
    events: z
      .array(z.enum(eventTypes))
      .min(1)
      .optional()
      .describe('Event types of the receiver; all by default.'),
    tolerance: tolerance(2),
    insecure: z.boolean().default(false).describe('Accept any certificate of the receiver.'),
    strict: z.boolean().default(false).describe('Also fail cases that are based on advice.'),
  }),
  effects: { ...adds, openWorldHint: true },
  scopes: [],
  async run(context, { url, secret: given, only, events, ...settings }, signal) {
    const cases = chosenCases(receiverCases, { only })
    const key = requireSecret(given, context)
    const target = await context.receiver(url)
    const report = await checkReceiver({
      ...settings,
      url: target,
      lookup: context.lookup?.(portOf(target)),
      secret: key,
      cases,
      events: events ?? [...eventTypes],
      headers: [],
      ca: await context.authorities(),
      serviceName: await context.serviceName(),
      signal: AbortSignal.any([signal, AbortSignal.timeout(LONGEST_CALL * 1_000)]),
    })
    const shown = { ...report, cases: report.cases.filter(({ verdict }) => verdict !== 'passed') }
    const text = renderConformance(shown, COLUMNS)
    return { text: report.interrupted && !signal.aborted ? `${text}\n${STOPPED}` : text, data: shown }
  },
})
