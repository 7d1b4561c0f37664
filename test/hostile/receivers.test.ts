import { expect, test } from 'vitest'
import { openReceiver } from '../support/simulator.ts'
import { openTarget } from './standing.ts'

test('DEL-15 a push is answered while its receiver leaves the attempt hanging', async () => {
  const target = await openTarget()
  const receiver = await openReceiver('hang')
  await target.client.endpoints.create({ url: receiver.url, event_types: ['check.created', 'check.updated'] })
  await target.push('a')
  await receiver.received(1)
  for (let total_cents = 0; total_cents < 20; total_cents++) {
    const totals = { subtotal_cents: 0, tax_cents: 0, total_cents }
    expect(await target.push('a', { totals })).toMatchObject({ status: 200 })
  }
  const { data } = await target.client.deliveries.list({ limit: 100 })
  expect(data.flatMap(({ attempts }) => attempts)).toEqual([])
  receiver.answer(200)
  await receiver.close()
  await target.stands()
})

test('NET-11 of a receiver’s headers, only the redirect target is stored', async () => {
  const target = await openTarget()
  const receiver = await openReceiver((response) => {
    response.writeHead(302, { Location: 'https://elsewhere.example/', 'X-Canary': 'blue-bird' }).end('gone')
  })
  await target.client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
  await target.push('a')
  await target.idle()
  const answer = await target.call('GET /_sim/deliveries')
  expect(answer.json).toMatchObject({
    data: [{ attempts: [{ outcome: 'bad_status', response_status: 302, response_body: 'gone' }] }],
  })
  expect(answer.text).toContain('https://elsewhere.example/')
  expect(answer.text).not.toContain('blue-bird')
  await target.stands(answer)
})
