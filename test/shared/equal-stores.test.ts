import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noRecords, type Everything, type Reads } from '../../src/model/records.ts'
import { Refusal } from '../../src/model/refusal.ts'
import { claimItems, releaseClaim } from '../../src/operations/claims.ts'
import { deleteEndpoint, pingEndpoint, registerEndpoint } from '../../src/operations/endpoints.ts'
import { holdDelivery, releaseDeliveries } from '../../src/operations/pending-deliveries.ts'
import { leaveFeedback } from '../../src/operations/leave-feedback.ts'
import type { Operation } from '../../src/operations/operation.ts'
import { pay, refund } from '../../src/operations/payments.ts'
import { pushCheck } from '../../src/operations/push-check.ts'
import { recordAttempt } from '../../src/operations/record-attempt.ts'
import { resendDelivery } from '../../src/operations/resend-delivery.ts'
import { createService, type Service } from '../../src/service.ts'
import { createMemoryStore } from '../../src/store/memory-store.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import type { Store } from '../../src/store/store.ts'
import { isSoak } from '../soak/seeded.ts'
import { newDirectory, openStore, tidyUp } from '../store/folder.ts'
import { postgresPrograms, openTestDatabase, type Database } from '../support/postgres.ts'

tidyUp()

const noon = Date.parse('2026-11-23T12:00:00.000Z')
const location = {
  id: 'loc_1',
  name: 'Bar',
  timezone: 'UTC',
  currency: 'EUR',
  created_at: new Date(noon).toISOString(),
}
const begin: Everything = { ...noRecords, locations: [location] }

/** Records of a service, for steps that name one by its place. */
type Shown = Pick<Everything, 'claims' | 'payments' | 'endpoints' | 'deliveries'>

/** A step calls one operation. Places choose among the records that exist; without records the step does nothing. */
interface Step {
  call: Call
  /** Runs at once with the next step, in the same instance. */
  together: boolean
  /** Instance that gets the step. */
  instance: number
}

interface Call {
  run: (service: Service, shown: Shown) => Promise<unknown>
  /** True when it chooses among the records that exist. */
  chooses: boolean
}

const check = fc.constantFrom('a', 'a', 'b')
const item = fc.constantFrom('i1', 'i2', 'i3')
const place = fc.nat({ max: 5 })

function at<T>(records: readonly T[], place: number): T | undefined {
  return records.length === 0 ? undefined : records[place % records.length]
}

/** Calls an operation when there is a command for it. */
function calling<Command, R extends Reads, Reply>(
  operation: Operation<Command, R, Reply>,
  command: (shown: Shown) => Command | undefined,
): Call {
  return {
    chooses: command.length > 0,
    async run(service, shown) {
      const given = command(shown)
      return given === undefined ? 'nothing' : service.execute(operation, given)
    },
  }
}

function addressOf(external_id: string) {
  return { location_id: location.id, external_id }
}

const pushes = fc
  .record({
    id: check,
    items: fc.uniqueArray(item, { maxLength: 3 }),
    price_cents: fc.constantFrom(100, 250, 999),
    status: fc.constantFrom('open' as const, 'open' as const, 'closed' as const),
    revision: fc.option(fc.nat({ max: 4 }), { nil: undefined }),
  })
  .map(({ id, items, price_cents, status, revision }) => {
    const total_cents = items.length * price_cents
    const push = {
      table: { number: '12' },
      status,
      items: items.map((external_id) => ({
        external_id,
        name: external_id,
        quantity: 1,
        price_cents,
        note: null,
      })),
      totals: { subtotal_cents: total_cents, tax_cents: 0, total_cents },
      revision,
    }
    return calling(pushCheck, () => ({ ...addressOf(id), push, order_by: 'revision' }))
  })

const claims = fc.record({ id: check, external_id: item }).map(({ id, external_id }) =>
  calling(claimItems, () => ({
    ...addressOf(id),
    guest_name: null,
    items: [{ external_id, quantity: 1 }],
  })),
)

const guests = fc.oneof(
  claims,
  place.map((n) => calling(releaseClaim, ({ claims: all }) => claimOf(at(all, n)))),
  fc
    .record({ id: check, amount_cents: fc.option(fc.constantFrom(50, 100, 300), { nil: undefined }) })
    .map(({ id, amount_cents }) =>
      calling(pay, () => ({ ...addressOf(id), guest_name: null, tip_cents: 10, amount_cents })),
    ),
  place.map((n) =>
    calling(refund, ({ payments }) => {
      const payment = at(payments, n)
      return payment && { payment }
    }),
  ),
  check.map((id) =>
    calling(leaveFeedback, () => ({ ...addressOf(id), guest_name: null, rating: 5, comment: null })),
  ),
)

function claimOf(claim: Shown['claims'][number] | undefined) {
  return claim && { claim }
}

const endpoints = fc.oneof(
  fc.constant(
    calling(registerEndpoint, () => ({
      location_id: location.id,
      url: 'https://localhost:4000/hook',
      event_types: ['check.created' as const, 'payment.succeeded' as const],
    })),
  ),
  place.map((n) => calling(deleteEndpoint, ({ endpoints: all }) => endpointOf(at(all, n)))),
  place.map((n) => calling(pingEndpoint, ({ endpoints: all }) => endpointOf(at(all, n)))),
)

function endpointOf(endpoint: Shown['endpoints'][number] | undefined) {
  return endpoint && { endpoint_id: endpoint.id, location_id: location.id }
}

const deliveries = fc.oneof(
  fc
    .record({
      n: place,
      outcome: fc.constantFrom('succeeded' as const, 'timeout' as const),
      late: fc.boolean(),
    })
    .map(({ n, outcome, late }) =>
      calling(recordAttempt, ({ deliveries: all }) => {
        const delivery = at(all, n)
        return (
          delivery && {
            delivery_id: delivery.id,
            endpoint_id: delivery.endpoint_id,
            attempt: delivery.attempts.length + (late ? 0 : 1),
            generation: -1,
            result: {
              started_at: new Date(noon).toISOString(),
              duration_ms: 1,
              outcome,
              response_status: null,
              response_body: 'é\u2028\u0000😀',
              error: null,
            },
            retry_in_ms: 60_000,
            disable_after: 2,
          }
        )
      }),
    ),
  place.map((n) =>
    calling(holdDelivery, ({ deliveries: all }) => {
      const delivery = at(all, n)
      return (
        delivery && {
          delivery_id: delivery.id,
          attempt: delivery.attempts.length + 1,
          generation: -1,
          faults: ['delay' as const],
          delay_ms: 120,
          reorder_ms: 0,
        }
      )
    }),
  ),
  fc.constant(
    calling(releaseDeliveries, ({ deliveries: all }) => ({
      delivery_ids: all.map(({ id }) => id),
      at_once: true,
    })),
  ),
  place.map((n) =>
    calling(resendDelivery, ({ deliveries: all }) => {
      const delivery = at(all, n)
      return delivery && { delivery, fresh: true }
    }),
  ),
)

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    call: fc.oneof({ weight: 3, arbitrary: pushes }, { weight: 4, arbitrary: guests }, endpoints, deliveries),
    together: fc.boolean(),
    instance: fc.nat({ max: 1 }),
  }),
  { minLength: 1, maxLength: isSoak ? 14 : 6 },
)

/** A service whose ids and times follow from the step alone, however often a step is decided. */
function serviceOver(store: Store) {
  let step = 0
  let made = 0
  /** A decision begins by asking for the time. */
  const now = () => {
    made = 0
    return new Date(noon + step * 1_000)
  }
  const service = createService({
    store: {
      ...store,
      transact: (reads, decide) => store.transact(reads, (records) => decide(records, -1)),
    },
    clock: { now },
    newId: (prefix) => `${prefix}_${String(step * 1_000 + ++made).padStart(26, '0')}`,
    newSecret: () => 'whsec_1',
  })
  return { service, toStep: (next: number) => (step = next) }
}

type Place = ReturnType<typeof serviceOver>

/** Runs steps, each at one of the instances of a store; returns the replies and all records. */
async function play(instances: readonly Place[], sequence: readonly Step[]) {
  const [first] = instances
  if (first === undefined) throw new Error('there is at least one instance')
  await first.service.replace(() => begin)
  const replies: unknown[] = []
  let chosen = first
  const started: Promise<unknown>[] = []
  for (const [index, { call, together, instance }] of sequence.entries()) {
    if (started.length === 0) {
      chosen = instances[instance % instances.length] ?? first
      for (const one of instances) one.toStep(index + 1)
    }
    const { service } = chosen
    const shown = call.chooses ? await service.everything() : noRecords
    started.push(call.run(service, shown).catch(refusalOf))
    if (together && index + 1 < sequence.length) continue
    replies.push(...(await Promise.all(started.splice(0))))
  }
  return { replies, records: await first.service.everything() }
}

function refusalOf(error: unknown) {
  if (!(error instanceof Refusal)) throw error
  const { code, message, details } = error
  return { code, message, details }
}

const seed = Number(process.env.TABWIRE_SOAK_SEED ?? 20_261_123)
const runs = isSoak ? Number(process.env.TABWIRE_SOAK_RUNS ?? 10_000) : 120

describe.skipIf(postgresPrograms === undefined)('records in PostgreSQL', () => {
  let database: Database
  const stores: Store[] = []
  beforeAll(async () => {
    database = await openTestDatabase()
  })
  afterAll(async () => {
    for (const store of stores) await store.close()
    await database.stop()
  })
  const opened = (store: Store) => {
    stores.push(store)
    return serviceOver(store)
  }

  test(
    `equal those in memory and in files after any operations, seed ${seed}`,
    async () => {
      const memory = opened(createMemoryStore())
      const file = opened(await openStore(await newDirectory()))
      const shared = { url: database.url, sandbox: 'equal' }
      const one = opened(await openPostgresStore(shared))
      const other = opened(await openPostgresStore(shared))
      const property = fc.asyncProperty(steps, async (sequence) => {
        const expected = await play([memory], sequence)
        expect(await play([file], sequence)).toEqual(expected)
        expect(await play([one, other], sequence)).toEqual(expected)
      })
      await fc.assert(property, { numRuns: runs, seed })
    },
    isSoak ? 3_600_000 : 120_000,
  )
})
