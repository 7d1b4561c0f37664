import { expect, test } from 'vitest'
import { openReceiver } from '../support/simulator.ts'
import { openTarget } from './standing.ts'

test('a push is answered while its receiver does not answer the attempt', async () => {
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

test('the headers of a receiver are stored, and those of its redirect target are not', async () => {
  const target = await openTarget()
  const elsewhere = await openReceiver((response) => {
    response.writeHead(200, { 'X-Canary': 'blue-bird' }).end('blue-body')
  })
  const receiver = await openReceiver((response) => {
    response.writeHead(302, { Location: elsewhere.url }).end('gone')
  })
  await target.client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
  await target.push('a')
  await target.idle()
  const answer = await target.call('GET /_sim/deliveries')
  const [delivery] = (await target.client.deliveries.list()).data
  expect(delivery?.attempts).toMatchObject([
    { outcome: 'bad_status', response_status: 302, response_body: 'gone' },
  ])
  expect(delivery?.attempts[0]?.response_headers?.[0]).toEqual({ name: 'Location', value: elsewhere.url })
  expect(answer.text).not.toMatch(/blue-(bird|body)/)
  expect(elsewhere.requests).toEqual([])
  const reader = await target.key(['read'])
  expect(await target.call('GET /_sim/deliveries', { key: reader })).toMatchObject({ status: 403 })
  await target.stands(answer)
})
