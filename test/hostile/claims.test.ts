import { describe, expect, test } from 'vitest'
import type { Push } from '../../src/model/check.ts'
import { isSoak } from '../soak/seeded.ts'
import { check, errorOf, item, totals } from '../support/simulator.ts'
import { openTarget, type Target } from './standing.ts'

const dinner = check({ items: [item('burger', { quantity: 2 }), item('tea')], totals: totals(5550) })
const burger = (changes: Partial<Push['items'][number]>) => ({
  ...dinner,
  items: [item('burger', { quantity: 2, ...changes }), item('tea')],
})
const textOf = async ({ call }: Target, id: string) => (await call(`GET /v1/checks/external/${id}`)).text
const eventsOf = async ({ client }: Target) =>
  (await client.events.list({ external_check_id: 'a', limit: 100 })).data.map(({ type }) => type)
const claim = ({ client }: Target, id = 'a', quantity = 2, external_id = 'burger') =>
  client.guests.claim(id, { items: [{ external_id, quantity }] })

/** A check `a` of two burgers, which a guest has claimed, and a tea. */
async function openClaimed() {
  const target = await openTarget()
  await target.push('a', dinner)
  await claim(target)
  return target
}

test.each<[what: string, push: Push, reason: string]>([
  ['is removed', { ...dinner, items: [item('tea')] }, 'removed'],
  ['has another external_id', burger({ external_id: 'burger-2' }), 'removed'],
  ['costs a cent less', burger({ price_cents: 1849 }), 'price_decreased'],
  ['is fewer than claimed', burger({ quantity: 1.999 }), 'quantity_below_claimed'],
])(
  'when a claimed item %s, the push is refused with 409 and changes nothing',
  async (_what, push, reason) => {
    const target = await openClaimed()
    const before = await textOf(target, 'a')
    for (const status of ['active', 'paid']) {
      if (status === 'paid') await target.client.guests.pay('a', { amount_cents: 5550 })
      const held = status === 'paid' ? await textOf(target, 'a') : before
      const events = await eventsOf(target)
      const answer = await target.push('a', push)
      expect(answer.status).toBe(409)
      expect(errorOf(answer)).toMatchObject({
        code: 'conflict_with_paid_items',
        conflicts: [{ external_id: 'burger', reason, claimed_quantity: 2 }],
      })
      expect(await textOf(target, 'a')).toBe(held)
      expect(await eventsOf(target)).toEqual(events)
    }
    await target.stands()
  },
)

test.each<[what: string, push: Push]>([
  ['costs more', burger({ price_cents: 1851 })],
  ['is renamed and has a note', burger({ name: 'Cheeseburger', note: 'rare' })],
  ['is moved in the list', { ...dinner, items: dinner.items.toReversed() }],
  ['stays, and an unclaimed one is removed', { ...dinner, items: [item('burger', { quantity: 2 })] }],
])('a push in which a claimed item %s is accepted, and the item keeps its claim', async (_what, push) => {
  const target = await openClaimed()
  const { json } = await target.push('a', push)
  expect((json as Push).items).toContainEqual(
    expect.objectContaining({ external_id: 'burger', claimed_quantity: 2 }),
  )
  await target.stands()
})

test('a valid push after a 409 is applied completely', async () => {
  const target = await openClaimed()
  expect((await target.push('a', { ...dinner, items: [], totals: totals(0) })).status).toBe(409)
  const answer = await target.push('a', burger({ quantity: 3 }))
  expect(answer).toMatchObject({ status: 200, json: { items: [{ quantity: 3, claimed_quantity: 2 }, {}] } })
  await target.stands()
})

test('a late push without the claimed item is refused with 409, and the claim does not change', async () => {
  const target = await openTarget()
  await target.push('a', { ...dinner, items: [item('tea')] })
  await target.push('a', dinner)
  const { id } = await claim(target)
  const before = await textOf(target, 'a')
  expect((await target.push('a', { ...dinner, items: [item('tea')] })).status).toBe(409)
  expect(await textOf(target, 'a')).toBe(before)
  expect(await target.client.claims.get(id)).toMatchObject({ status: 'active', items: [{ quantity: 2 }] })
  await target.stands()
})

describe('when both happen at the same time', () => {
  test('one of a claim and a push that removes the item is refused, each time', async () => {
    const target = await openTarget()
    const without = { ...dinner, items: [item('tea')] }
    const outcomes = new Set<string>()
    const round = async (id: string, claimFirst: boolean) => {
      await target.push(id, dinner)
      const json = { items: [{ external_id: 'burger', quantity: 1 }] }
      const claiming = () => target.call(`POST /_sim/checks/${id}/claims`, { json })
      const pushing = () => target.push(id, without)
      const [claimed, pushed] = claimFirst
        ? await Promise.all([claiming(), pushing()])
        : (await Promise.all([pushing(), claiming()])).toReversed()
      const statuses = `${claimed?.status} ${pushed?.status}`
      const { items } = await target.client.checks.get(id)
      expect(items.map((one) => [one.external_id, one.claimed_quantity])).toEqual(
        statuses === '201 409'
          ? [
              ['burger', 1],
              ['tea', 0],
            ]
          : [['tea', 0]],
      )
      outcomes.add(statuses)
    }
    for (let batch = 0; batch < (isSoak ? 15 : 4); batch++)
      await Promise.all(
        Array.from({ length: 10 }, (_, index) => round(`r-${batch}-${index}`, index % 2 === 0)),
      )
    expect([...outcomes].toSorted()).toEqual(['201 409', '409 200'])
    await target.stands()
  })

  test('exactly one of 20 guests who claim one item or pay the whole check succeeds', async () => {
    const target = await openTarget()
    for (let round = 0; round < 5; round++) {
      const id = `r-${round}`
      await target.push(id, dinner)
      const all = (route: string, json: object) =>
        Promise.all(
          Array.from({ length: 20 }, () => target.call(`POST /_sim/checks/${id}/${route}`, { json })),
        )
      const claims = await all('claims', { items: [{ external_id: 'tea', quantity: 1 }] })
      const payments = await all('payments', {})
      for (const answers of [claims, payments])
        expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
          201,
          ...Array<number>(19).fill(409),
        ])
      expect(await target.client.checks.get(id)).toMatchObject({ paid_cents: 5550, balance_cents: 0 })
      const { data } = await target.client.events.list({ external_check_id: id, type: 'check.fully_paid' })
      expect(data).toHaveLength(1)
    }
    await target.stands()
  })
})
