import { describe, expect, it, onTestFinished } from 'vitest'
import { createApp } from '../../../src/http/app.ts'
import { hashOf } from '../../../src/http/auth/api-key.ts'
import { openServer } from '../../../src/http/listen.ts'
import { openRequestLog } from '../../support/request-log.ts'
import { v1Routes } from '../../../src/http/v1/routes.ts'
import { createNewId, newSecret } from '../../../src/ids.ts'
import type { Push } from '../../../src/model/check.ts'
import type { Claim } from '../../../src/model/guests/records.ts'
import { put } from '../../../src/model/records.ts'
import { addLocations } from '../../../src/operations/state.ts'
import { createKey } from '../../../src/operations/keys.ts'
import type { NoReads, Operation } from '../../../src/operations/operation.ts'
import { createService } from '../../../src/service.ts'
import { createMemoryStore } from '../../../src/store/memory-store.ts'
import { callAt, check, errorOf, item } from '../../support/simulator.ts'

const route = 'PUT /v1/checks/external/a'
const location = { name: 'Riverside', timezone: 'Europe/London', currency: 'GBP' }

/** Puts a claim where guests would have made it. */
const addClaim = {
  reads: (): NoReads => ({}),
  decide: (_records, claim) => ({ reply: claim, writes: [put('claims', claim)], events: [] }),
} satisfies Operation<Claim, NoReads, Claim>

/** Opens a server with a check `a` of two burgers for 1850, of which guests have claimed some. */
async function openServerWith(claimed: Partial<Claim>) {
  const clock = { now: () => new Date() }
  const newId = createNewId(() => clock.now())
  const service = createService({ store: createMemoryStore(), clock, newId, newSecret })
  const [place] = await service.execute(addLocations, { locations: [location] })
  const location_id = place?.id ?? ''
  await service.execute(createKey, {
    name: 'key',
    scopes: ['read', 'write'],
    hash: hashOf('key'),
    location_id,
  })
  const log = openRequestLog()
  const app = createApp({
    service,
    log,
    newId,
    clock,
    tables: { '/v1': v1Routes({ service, log, time: clock, strict: false } as never) },
    checkOrigin: () => undefined,
    bodyLimit: 10_000,
    lifecycle: { phase: 'running' },
    report: (bug) => {
      throw bug
    },
  })
  const server = await openServer(app, { port: 0, host: '127.0.0.1', isAllowedHost: () => true })
  onTestFinished(() => server.close(0))
  const call = (to: string, json?: unknown) => callAt(server.url, to, { key: 'key', json })
  const pushed = await call(route, before)
  const items = [{ external_id: 'burger', quantity: 2, price_cents: 1850 }]
  await service.execute(addClaim, {
    id: newId('clm'),
    check_id: (pushed.json as { id: string }).id,
    external_check_id: 'a',
    location_id,
    guest_name: null,
    items,
    amount_cents: 3700,
    status: 'active',
    payment_id: null,
    created_at: clock.now().toISOString(),
    ...claimed,
  })
  return { call, log, pushed, service }
}

const before = check({ items: [item('burger', { quantity: 2 }), item('tea')] })
const burger = (changes: Partial<Push['items'][number]>) => [
  item('burger', { quantity: 2, ...changes }),
  item('tea'),
]

describe('a push that removes claimed items', () => {
  it.each<[what: string, items: Push['items'], reasons: string[]]>([
    ['removes the item', [item('tea')], ['removed']],
    ['removes every item', [], ['removed']],
    ['lowers its price', burger({ price_cents: 1849 }), ['price_decreased']],
    ['leaves less than is claimed', burger({ quantity: 1 }), ['quantity_below_claimed']],
    ['does both', burger({ quantity: 1, price_cents: 0 }), ['price_decreased', 'quantity_below_claimed']],
    ['gives it another identifier', [item('burger-2', { quantity: 2 }), item('tea')], ['removed']],
  ])('%s is 409 conflict_with_paid_items, and nothing changes', async (_what, items, reasons) => {
    const { call, log, pushed, service } = await openServerWith({})
    const answer = await call(route, { ...before, items })
    expect(answer.status).toBe(409)
    expect(errorOf(answer)).toMatchObject({
      code: 'conflict_with_paid_items',
      conflicts: reasons.map((reason) => ({ external_id: 'burger', reason, claimed_quantity: 2 })),
    })
    expect((await call('GET /v1/checks/external/a')).text).toBe(pushed.text)
    expect((await service.list('events', { limit: 10 })).data).toHaveLength(1)
    expect(log.get(errorOf(answer).request_id)?.push).toMatchObject({
      outcome: 'conflict',
      external_check_id: 'a',
    })
  })

  it('is 409 also when the claim is paid', async () => {
    const { call } = await openServerWith({ status: 'paid' })
    expect(await call(route, { ...before, items: [] })).toMatchObject({ status: 409 })
  })

  it.each<[what: string, claimed: Partial<Claim>, items: Push['items']]>([
    ['the claim is released', { status: 'released' }, [item('tea')]],
    ['the price rises', {}, burger({ price_cents: 1900 })],
    ['the quantity rises', {}, burger({ quantity: 3 })],
    ['the item is renamed', {}, burger({ name: 'Cheeseburger', note: 'well done' })],
    ['what is not claimed is removed', {}, [item('burger', { quantity: 2 })]],
  ])('is 200 when %s', async (_what, claimed, items) => {
    const { call } = await openServerWith(claimed)
    expect(await call(route, { ...before, items })).toMatchObject({ status: 200 })
  })
})
