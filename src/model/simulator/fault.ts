import { z } from 'zod'
import { eventTypes } from '../event.ts'
import { DAY_MS } from '../text/time.ts'
import { apiFields, deliveryFaultKinds } from './fault-kinds.ts'

/** Default delays in milliseconds of the service's clock: half of the first retry's backoff, and all of it. */
const DELAY_MS = 30_000
const REORDER_MS = 60_000

/** Default status of an injected error. */
const ERROR_STATUS = 503

const probability = z.number().min(0).max(1)
const heldBack = z.int().min(1).max(DAY_MS)

/** Counters of injections. The service counts, and accepts `left` from a saved response. */
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
    message: `must have at least one of ${deliveryFaultKinds.join(', ')}, with a probability`,
  })
export type DeliveryFault = z.infer<typeof deliveryFault>

const PATH = /^((GET|HEAD|PUT|POST|DELETE) )?\/v1(\/|\*|$)/

const apiFault = z
  .strictObject({
    on: z.literal('api'),
    /** Milliseconds of real time, because a client waits by its own clock. */
    latency_ms: z.int().min(1).max(60_000).optional(),
    error_rate: probability.optional(),
    error_status: z.int().min(400).max(599).optional(),
    reset_rate: probability.optional(),
    lost_answer_rate: probability.optional(),
    paths: z
      .array(
        z
          .string()
          .max(300)
          .regex(PATH, 'must be a path under /v1, optionally after a method, such as PUT /v1/checks/*'),
      )
      .min(1)
      .optional(),
    ...counts,
  })
  .refine((fault) => Object.values(apiFields).some((field) => fault[field] !== undefined), {
    message: 'must have at least one of latency_ms, error_rate, reset_rate, lost_answer_rate',
  })
export type ApiFault = z.infer<typeof apiFault>

/** Body of `PUT /_sim/faults` (contract section 10): replaces all faults. The default seed is the service's own. */
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

/** Returns a fault with default delays and status filled in. */
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

/** Faults to set. */
export interface FaultsWanted {
  seed?: number | undefined
  faults: readonly Fault[]
}

/** Faults as responses show them: the requested ones, with remaining and past injections. */
export interface FaultsView {
  seed: number
  faults: readonly Fault[]
}
