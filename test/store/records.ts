import type { Check } from '../../src/model/check.ts'
import type { Claim } from '../../src/model/guests/records.ts'
import type { Delivery } from '../../src/model/delivery.ts'
import type { StoredEvent } from '../../src/model/event.ts'
import { put } from '../../src/model/records.ts'
import type { WebhookEndpoint } from '../../src/model/webhook-endpoint.ts'
import { encodeLines } from '../../src/store/journal/line.ts'
import type { Store } from '../../src/store/store.ts'

const time = '2026-01-01T12:00:00.000Z'

/** Twenty-six digits, so that numbers sort as identifiers do. */
export function idOf(prefix: string, number: number): string {
  return `${prefix}_${String(number).padStart(26, '0')}`
}

export function check(number: number, changes: Partial<Check> = {}): Check {
  return {
    id: idOf('chk', number),
    external_id: `POS-${number}`,
    location_id: 'loc_1',
    table: { number: '12' },
    status: 'open',
    items: [],
    totals: { subtotal_cents: 0, tax_cents: 0, total_cents: 0 },
    revision: null,
    paid_cents: 0,
    balance_cents: 0,
    created_at: time,
    updated_at: time,
    closed_at: null,
    ...changes,
  }
}

export function claim(number: number, changes: Partial<Claim> = {}): Claim {
  return {
    id: idOf('clm', number),
    check_id: idOf('chk', 1),
    external_check_id: 'POS-1',
    location_id: 'loc_1',
    guest_name: null,
    items: [],
    amount_cents: 0,
    status: 'active',
    payment_id: null,
    created_at: time,
    ...changes,
  }
}

export function event(number: number): StoredEvent {
  return {
    id: idOf('evt', number),
    type: 'check.created',
    created_at: time,
    external_check_id: null,
    body: '{}',
  }
}

export function delivery(number: number, changes: Partial<Delivery> = {}): Delivery {
  return {
    id: idOf('dlv', number),
    event_id: idOf('evt', number),
    event_type: 'check.created',
    endpoint_id: 'we_1',
    external_check_id: null,
    status: 'pending',
    attempts: [],
    next_attempt_at: time,
    dead_reason: null,
    ...changes,
  }
}

export function endpoint(number: number, changes: Partial<WebhookEndpoint> = {}): WebhookEndpoint {
  return {
    id: idOf('we', number),
    location_id: idOf('loc', 1),
    url: 'http://127.0.0.1:9/',
    event_types: ['check.created'],
    status: 'enabled',
    disabled_at: null,
    disabled_reason: null,
    created_at: time,
    signing_secret: 'whsec_x',
    consecutive_failures: 0,
    ...changes,
  }
}

/** A line of the journal. */
export function encodeLine(sequence: number, writes: string): Buffer {
  return encodeLines(sequence, [writes])
}

export function save(store: Store, ...writes: ReturnType<typeof put>[]): Promise<unknown> {
  return store.transact({}, () => ({ writes }))
}

/** Stores checks with these numbers, one transaction each, one after the other. */
export async function saveChecks(store: Store, ...numbers: readonly number[]): Promise<void> {
  for (const number of numbers) await save(store, put('checks', check(number)))
}

/** The numbers of the checks that are stored, oldest first. */
export async function storedChecks(store: Store): Promise<number[]> {
  const { data } = await store.list('checks', { limit: 100_000 })
  return data.map(({ id }) => Number(id.slice('chk_'.length))).reverse()
}
