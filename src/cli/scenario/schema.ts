import { z } from 'zod'
import { eventTypes } from '../../model/event.ts'
import { findingCodes } from '../../model/simulator/report.ts'

/**
 * Matches a reference such as `$anna.id` or `$bill.items[0].external_id`: a step's name, and a path in its answer.
 */
const REFERENCE = /^\$([a-z_]\w*)((?:\.\w+|\[\d+\])*)$/i

const reference = z.string().regex(REFERENCE, 'must be a number, or a reference such as $anna.amount_cents')

const integer = z.int().or(reference)

const check = z
  .string()
  .min(1)
  .max(200)
  .describe('Name of the check in this file; each run uses a new external id.')

const guest_name = z.string().optional()

const expectation = z
  .strictObject({
    status: z.int().optional().describe('Status of the response.'),
    code: z.string().optional().describe('Code of the error.'),
    lost: z
      .literal(true)
      .optional()
      .describe('The response must not arrive, because of a fault. The service may have done the step.'),
    body: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Fields that the resource or the error must have.'),
  })
  .optional()
  .describe('Expected response. Without it, a refusal ends the run.')

const common = {
  note: z.string().optional().describe('Note for the report.'),
  as: z
    .string()
    .regex(/^[a-z_]\w*$/i, 'must be a word')
    .optional()
    .describe('Name of the response; later steps refer to it as $name.field.'),
  expect: expectation,
}

const push = z.strictObject({
  do: z.literal('push'),
  ...common,
  check,
  body: z.record(z.string(), z.unknown()).describe('The full state of the check, as a POS sends it.'),
})

const close = z.strictObject({ do: z.literal('close'), ...common, check })

const claim = z.strictObject({
  do: z.literal('claim'),
  ...common,
  check,
  guest_name,
  items: z.array(z.strictObject({ external_id: z.string(), quantity: z.number() })),
})

const release = z.strictObject({ do: z.literal('release'), ...common, claim: z.string() })

const pay = z.strictObject({
  do: z.literal('pay'),
  ...common,
  check,
  guest_name,
  claim_ids: z.array(z.string()).optional(),
  amount_cents: integer.optional(),
  tip_cents: integer.optional(),
  card: z.enum(['approved', 'declined']).optional().describe('Result of the simulated card.'),
})

const refund = z.strictObject({
  do: z.literal('refund'),
  ...common,
  payment: z.string(),
  amount_cents: integer.optional(),
})

const rate = z.strictObject({
  do: z.literal('rate'),
  ...common,
  check,
  guest_name,
  rating: z.number(),
  comment: z.string().optional(),
})

const advance = z.strictObject({
  do: z.literal('advance'),
  ...common,
  by: z.string().describe('Duration to advance the clock, such as 36h.'),
})

const faults = z.strictObject({
  do: z.literal('faults'),
  ...common,
  faults: z
    .array(z.record(z.string(), z.unknown()))
    .describe('Faults to inject, as PUT /_sim/faults takes them. An empty list ends them.'),
})

const resend = z.strictObject({
  do: z.literal('resend'),
  note: common.note,
  check,
  event: z.int().min(1).describe('Number of the event among those of the check, oldest first, from 1.'),
})

const settle = z
  .strictObject({ do: z.literal('settle'), note: common.note })
  .describe('Ends all faults and advances the clock until no delivery is pending.')

const expect = z.strictObject({
  do: z.literal('expect'),
  note: common.note,
  check,
  is: z.record(z.string(), z.unknown()).optional().describe('Fields that the check must have.'),
  events: z.array(z.enum(eventTypes)).optional().describe('All events of the check, oldest first.'),
  findings: z
    .array(z.enum(findingCodes))
    .optional()
    .describe('All findings about the pushes of the check, oldest first.'),
  deliveries: z
    .array(z.enum(eventTypes))
    .optional()
    .describe(
      'Deliveries that must arrive for the check, in any order; more may arrive. Checked only with an endpoint.',
    ),
  receiver: z
    .literal('agrees')
    .optional()
    .describe("The receiver's view of the check must agree with the service; checked only with --state-url."),
})

const kinds = [
  push,
  close,
  claim,
  release,
  pay,
  refund,
  rate,
  advance,
  faults,
  resend,
  settle,
  expect,
] as const

const names = kinds.map(({ shape }) => shape.do.value).join(', ')

/** Schema of a scenario file: steps in order. Their fields are those of the API. */
export const scenarioSchema = z.strictObject({
  $schema: z.string().optional().describe('The JSON schema of this file.'),
  title: z.string().min(1),
  description: z.string().optional(),
  steps: z
    .array(
      z.discriminatedUnion('do', kinds, {
        error: ({ code }) => (code === 'invalid_union' ? `must be one of ${names}` : undefined),
      }),
    )
    .min(1),
})

export type Scenario = z.infer<typeof scenarioSchema>

export type Step = Scenario['steps'][number]

export type ExpectStep = Extract<Step, { do: 'expect' }>

/** A step that is one request to the service. */
export type Action = Exclude<Step, ExpectStep | { do: 'resend' | 'settle' }>

/** Returns the names of the earlier steps that a value refers to. */
export function referredTo(value: unknown): string[] {
  if (typeof value === 'string') return REFERENCE.exec(value)?.slice(1, 2) ?? []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(referredTo) : []
}

/**
 * Replaces the references in a value.
 * @throws Error for a field that an answer does not have.
 */
export function resolved<T>(value: T, answers: ReadonlyMap<string, unknown>): T {
  if (typeof value === 'string') return (REFERENCE.test(value) ? lookUp(value, answers) : value) as T
  if (Array.isArray(value)) return value.map((element: unknown) => resolved(element, answers)) as T
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, child]) => [key, resolved<unknown>(child, answers)])
  return Object.fromEntries(entries) as T
}

function lookUp(reference: string, answers: ReadonlyMap<string, unknown>): unknown {
  const [, name = '', way = ''] = REFERENCE.exec(reference) ?? []
  let found: unknown = answers.get(name)
  for (const [key] of way.matchAll(/\w+/g))
    found =
      typeof found === 'object' && found !== null && Object.hasOwn(found, key)
        ? (found as Record<string, unknown>)[key]
        : undefined
  if (found === undefined) throw new Error(`${reference} is not in the response of ${name}`)
  return found
}
