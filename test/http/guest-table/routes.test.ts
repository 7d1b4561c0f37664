import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../support/manual-clock.ts'
import { check, errorOf, item, openSimulator, totals } from '../../support/simulator.ts'
import { ann, bob, sitDown } from './table-page-fixtures.ts'

const dinner = check({
  items: [item('burger', { quantity: 2, price_cents: 1000 }), item('wine', { price_cents: 500 })],
  totals: { subtotal_cents: 2500, tax_cents: 250, total_cents: 2750 },
})
const claimed = (external_id: string, quantity = 1) => ({
  external_check_id: 'a',
  guest_name: 'Ann',
  items: [{ external_id, quantity }],
})

async function servedTable() {
  const simulator = await openSimulator()
  await simulator.push('a', dinner)
  return { ...simulator, table: await sitDown(simulator) }
}

describe('the page of a table', () => {
  it('shows the table at its URL, without a key', async () => {
    const { table } = await servedTable()
    expect(await table.state()).toMatchObject({
      table: { number: '12' },
      location: { name: 'The Copper Pan, Riverside', currency: 'USD' },
      checks: [{ external_id: 'a', balance_cents: 2750, even_split_cents: 2750, claims: [], payments: [] }],
    })
  })

  it.each([
    ['GET', '/state'],
    ['GET', '/stream'],
    ['POST', '/claims'],
    ['POST', '/payments'],
    ['POST', '/feedback'],
    ['DELETE', '/claims/clm_1'],
  ])('is not found with a wrong token: %s %s', async (method, below) => {
    const { call, table } = await servedTable()
    const token = table.path.split('/')[3] ?? ''
    const wrong = token.startsWith('A') ? `B${token.slice(1)}` : `A${token.slice(1)}`
    for (const path of [`/t/12/${wrong}`, `/t/13/${token}`, `/t/12/${token}A`]) {
      const answer = await call(`${method} ${path}${below}`, { key: null })
      expect([answer.status, errorOf(answer).code]).toEqual([404, 'not_found'])
    }
  })

  it('neither shows nor changes another table or location', async () => {
    const { client, key, call, push, table } = await servedTable()
    const [second] = (await client.locations.list()).data
    await push('b', { table: { number: '13' } })
    const elsewhere = await key(['write'], second?.id)
    await call('PUT /v1/checks/external/c', { json: dinner, key: elsewhere })
    expect((await table.state()).checks.map(({ external_id }) => external_id)).toEqual(['a'])
    for (const id of ['b', 'c', 'nope'])
      for (const [below, body] of [
        ['/claims', claimed('burger')],
        ['/payments', {}],
        ['/feedback', { rating: 5 }],
      ] as const) {
        const answer = await table.post(ann, below, { ...body, external_check_id: id })
        expect([answer.status, errorOf(answer).code]).toEqual([404, 'not_found'])
        expect(errorOf(answer).message).toContain(`No check "${id}" at this table`)
      }
    expect((await client.payments.list()).data).toEqual([])
  })

  it('shows an open check behind any number of closed ones', async () => {
    const { push, table } = await servedTable()
    const closed = { items: [], totals: totals(0), status: 'closed' as const }
    for (let number = 1; number <= 55; number += 1) await push(`closed-${number}`, closed)
    expect((await table.state()).checks[0]?.external_id).toBe('a')
    expect(await table.post(ann, '/claims', claimed('wine'))).toMatchObject({ status: 201 })
  })

  it('says nothing of a claim at another table', async () => {
    const { client, push, table } = await servedTable()
    await push('b', { ...dinner, table: { number: '13' } })
    const { id } = await client.guests.claim('b', { items: [{ external_id: 'wine', quantity: 1 }] })
    for (const claim of [id, 'clm_1'])
      expect(await table.ask(ann, 'DELETE', `/claims/${claim}`)).toMatchObject({
        status: 404,
        json: { error: { message: expect.stringContaining(`No claim ${claim} at this table`) as string } },
      })
  })

  it('lets a guest claim, and shows all claims and which are the guest’s own', async () => {
    const { client, table } = await servedTable()
    const answer = await table.post(ann, '/claims', claimed('burger'))
    expect(answer).toMatchObject({ status: 201, json: { guest_name: 'Ann', amount_cents: 1100 } })
    const mine = (await table.state(ann)).checks[0]?.claims[0]
    expect(mine).toMatchObject({ guest_name: 'Ann', amount_cents: 1100, mine: true })
    expect((await table.state(bob)).checks[0]?.claims[0]).toEqual({ ...mine, mine: false })
    expect((await table.state()).checks[0]?.claims[0]).toEqual({ ...mine, mine: false })
    const shown = JSON.stringify([await table.state(ann), (await client.claims.list()).data, answer.json])
    expect(shown).not.toMatch(new RegExp(`guest_hash|${ann}`))
  })

  it('refuses claimed items with 409, and changes nothing', async () => {
    const { table } = await servedTable()
    await table.post(ann, '/claims', claimed('wine'))
    const before = await table.state()
    const answer = await table.post(bob, '/claims', claimed('wine'))
    expect([answer.status, errorOf(answer).code]).toEqual([409, 'not_claimable'])
    expect(await table.state()).toEqual(before)
  })

  it('lets guests release and pay only their own claims', async () => {
    const { table } = await servedTable()
    const { id } = (await table.post(ann, '/claims', claimed('burger'))).json as { id: string }
    const paid = { external_check_id: 'a', claim_ids: [id] }
    for (const answer of [
      await table.ask(bob, 'DELETE', `/claims/${id}`),
      await table.post(bob, '/payments', paid),
    ])
      expect([answer.status, errorOf(answer).code]).toEqual([403, 'not_your_claim'])
    expect((await table.ask(ann, 'DELETE', `/claims/${id}`)).json).toMatchObject({ status: 'released' })
    expect((await table.state()).checks[0]?.claims).toEqual([])
  })

  it('refuses claims and payments without a valid guest id', async () => {
    const { table } = await servedTable()
    for (const guest of [null, 'short', 'a'.repeat(65), 'with spaces with spaces with'])
      for (const below of ['/claims', '/payments'])
        expect(errorOf(await table.post(guest, below, claimed('burger'))).code).toBe('invalid_request')
  })

  it('accepts a payment of the shown amount only', async () => {
    const { push, table } = await servedTable()
    const { id } = (await table.post(ann, '/claims', claimed('burger'))).json as { id: string }
    await push('a', { ...dinner, totals: totals(5000) })
    const pay = { external_check_id: 'a', guest_name: 'Ann', claim_ids: [id], tip_cents: 200 }
    const changed = await table.post(ann, '/payments', { ...pay, expected_cents: 1100 })
    expect([changed.status, errorOf(changed)]).toMatchObject([
      409,
      { code: 'amount_changed', amount_cents: 2000 },
    ])
    const paid = await table.post(ann, '/payments', { ...pay, expected_cents: 2000 })
    expect(paid).toMatchObject({ status: 201, json: { amount_cents: 2000, tip_cents: 200, claim_ids: [id] } })
    const [mine] = (await table.state(ann)).checks[0]?.payments ?? []
    expect(mine).toMatchObject({ guest_name: 'Ann', amount_cents: 2000, tip_cents: 200, mine: true })
    expect((await table.state(bob)).checks[0]?.payments).toEqual([{ ...mine, tip_cents: null, mine: false }])
    expect((await table.state(bob)).checks[0]?.even_split_cents).toBe(3000)
  })

  it('declines the test card for declines, and changes nothing', async () => {
    const { client, table } = await servedTable()
    const before = await table.state()
    const answer = await table.post(ann, '/payments', { external_check_id: 'a', card: 'declined' })
    expect([answer.status, errorOf(answer).code]).toEqual([402, 'card_declined'])
    expect(await table.state()).toEqual(before)
    expect((await client.payments.list()).data).toEqual([])
  })

  it('accepts a rating, and lists all issues of an invalid one', async () => {
    const { client, table } = await servedTable()
    const rated = { external_check_id: 'a', rating: 5, comment: 'lovely', guest_name: 'Ann' }
    expect(await table.post(null, '/feedback', rated)).toMatchObject({ status: 201, json: rated })
    expect((await client.feedback.list()).data).toMatchObject([rated])
    const wrong = await table.post(null, '/feedback', { rating: 6 })
    expect(wrong.status).toBe(422)
    expect((errorOf(wrong).issues as { path: string }[]).map(({ path }) => path).sort()).toEqual([
      'external_check_id',
      'rating',
    ])
  })

  it('shows closed checks while they have a balance, and for an hour after payment', async () => {
    const clock = createManualClock()
    const simulator = await openSimulator({ clock })
    const table = await sitDown(simulator)
    const ids = async () => (await table.state()).checks.map(({ external_id }) => external_id)
    await simulator.push('a', { ...dinner, status: 'closed' })
    await simulator.push('b')
    clock.advance(3 * 60 * 60 * 1000)
    expect(await ids()).toEqual(['b', 'a'])
    expect((await table.post(ann, '/payments', { external_check_id: 'a' })).status).toBe(201)
    clock.advance(59 * 60 * 1000)
    expect(await ids()).toEqual(['b', 'a'])
    clock.advance(60 * 1000)
    expect(await ids()).toEqual(['b'])
  })

  it('leaves its token in no log and its responses in no cache', async () => {
    const { call, table } = await servedTable()
    const token = table.path.split('/')[3] ?? ''
    await table.ask(ann, 'GET', '/nothing')
    const { headers } = await table.ask(ann, 'GET', '/state')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('access-control-allow-origin')).toBeNull()
    const log = await call('GET /_sim/requests')
    expect(log.text).toContain('/t/12/…/state')
    expect(log.text).not.toContain(token)
    expect(log.text).not.toContain(ann)
  })

  it('refuses pages of other sites', async () => {
    const { call, table } = await servedTable()
    const headers = { origin: 'https://evil.example', 'x-guest-id': ann }
    const answer = await call(`POST ${table.path}/claims`, { key: null, headers, json: claimed('burger') })
    expect([answer.status, errorOf(answer).code]).toEqual([403, 'forbidden_origin'])
  })

  it('stays valid after saving and loading a state', async () => {
    const { client, table } = await servedTable()
    await table.post(ann, '/claims', claimed('burger'))
    const before = await table.state(ann)
    await client.state.put(JSON.stringify(await client.state.get()))
    expect(await table.state(ann)).toEqual(before)
  })
})
