import { z } from 'zod'
import { eventTypes } from '../event.ts'
import { apiFields, deliveryFaultKinds } from './fault-kinds.ts'

/** Milliseconds of the service's clock unless said otherwise: half of the first wait for a retry, and all of it. */
const DELAY_MS = 30_000
const REORDER_MS = 60_000

/** What an injected error answers, unless said otherwise. */
const ERROR_STATUS = 503

const DAY_MS = 86_400_000

const probability = z.number().min(0).max(1)
const heldBack = z.int().min(1).max(DAY_MS)

/** How often faults befall anything, and how often they have: the service counts, and takes `left` back when it is given. */
const counts = {
  times: z.int().min(1).optional(),
  left: z.int().min(0).optional(),
  happened: z.record(z.string(), z.int()).optional(),
}

const deliveryFault = z
  .strictObject({
    on: z.literal('deliveries'),
    duplicate: probability.optional(),
    reorder: probability.optional(),
    reorder_ms: heldBack.optional(),
    delay: probability.optional(),
    delay_ms: heldBack.optional(),
    drop: probability.optional(),
    event_types: z.array(z.enum(eventTypes)).min(1).optional(),
    endpoint_ids: z.array(z.string().min(1).max(64)).min(1).optional(),
    ...counts,
  })
  .refine((fault) => deliveryFaultKinds.some((kind) => fault[kind] !== undefined), {
    message: `must name one of ${deliveryFaultKinds.join(', ')}, with its probability`,
  })
export type DeliveryFault = z.infer<typeof deliveryFault>

const PATH = /^((GET|HEAD|PUT|POST|DELETE) )?\/v1(\/|\*|$)/

const apiFault = z
  .strictObject({
    on: z.literal('api'),
    /** Of real time: a client waits by its own clock. */
    latency_ms: z.int().min(1).max(60_000).optional(),
    error_rate: probability.optional(),
    error_status: z.int().min(400).max(599).optional(),
    reset_rate: probability.optional(),
    lost_answer_rate: probability.optional(),
    paths: z
      .array(
        z.string().max(300).regex(PATH, 'must begin with /v1, or with a method before it: PUT /v1/checks/*'),
      )
      .min(1)
      .optional(),
    ...counts,
  })
  .refine((fault) => Object.values(apiFields).some((field) => fault[field] !== undefined), {
    message: 'must name one of latency_ms, error_rate, reset_rate, lost_answer_rate',
  })
export type ApiFault = z.infer<typeof apiFault>

/** Body of `PUT /_sim/faults` (contract section 10): all faults that there shall be. Without a seed, the service's own. */
export const faultsBody = z.strictObject({
  seed: z.int().min(0).optional(),
  faults: z
    .array(
      z.discriminatedUnion('on', [deliveryFault, apiFault], {
        error: ({ code }) => (code === 'invalid_union' ? 'must be "deliveries" or "api"' : undefined),
      }),
    )
    .max(100),
})
export type FaultsBody = z.infer<typeof faultsBody>
export type Fault = FaultsBody['faults'][number]

/** A fault with the times and the status that it leaves to us. */
export function withDefaults(fault: Fault): Fault {
  if (fault.on === 'api')
    return fault.error_rate === undefined
      ? fault
      : { ...fault, error_status: fault.error_status ?? ERROR_STATUS }
  const { delay, reorder } = fault
  return {
    ...fault,
    ...(delay === undefined ? {} : { delay_ms: fault.delay_ms ?? DELAY_MS }),
    ...(reorder === undefined ? {} : { reorder_ms: fault.reorder_ms ?? REORDER_MS }),
  }
}

/** What is to be set. */
export interface FaultsWanted {
  seed?: number | undefined
  faults: readonly Fault[]
}

/** Faults as they are shown: what was asked for, with how many times are left and what has happened so far. */
export interface FaultsView {
  seed: number
  faults: readonly Fault[]
}
