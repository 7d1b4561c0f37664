import { expect, describe, it } from 'vitest'
import type { AttemptMessage } from '../../../src/client.ts'
import type { Attempt, Delivery } from '../../../src/model/delivery.ts'
import type { State } from '../../../src/model/simulator/state.ts'
import {
  deadUrl,
  openReceiver,
  openSimulator,
  temporaryDirectory,
  type TestSimulator,
} from '../../support/simulator.ts'

const startAt = new Date('2026-11-22T00:00:00.000Z')
const event_types = ['check.created' as const]

/** Headers that the receiver sets, in their order. */
const own = [
  { name: 'X-Trace', value: 'caf\u00e9' },
  { name: 'Set-Cookie', value: 'a=1' },
  { name: 'Set-Cookie', value: 'b=2' },
]

/** A simulator with one attempt that was answered 500 with the headers of `own`. */
async function openAnswered(options: Parameters<typeof openSimulator>[0] = {}) {
  const simulator = await openSimulator({ startAt, ...options })
  const receiver = await openReceiver((response) => {
    response.writeHead(500, { 'X-Trace': 'caf\u00e9', 'Set-Cookie': ['a=1', 'b=2'] }).end('no')
  })
  await simulator.client.clock.freeze(true)
  await simulator.client.endpoints.create({ url: receiver.url, event_types })
  await simulator.push('dinner')
  await simulator.idle()
  return simulator
}

async function onlyDelivery({ client }: Pick<TestSimulator, 'client'>): Promise<Delivery> {
  const [delivery] = (await client.deliveries.list()).data
  if (delivery === undefined) throw new Error('There is no delivery.')
  return delivery
}

const ownOf = (attempt: Attempt | undefined) =>
  attempt?.response_headers?.filter(({ name }) => own.some((header) => header.name === name))

/** The state as an early version saved it: without response headers. */
function early({ deliveries, ...state }: State): State {
  return {
    ...state,
    deliveries: deliveries.map((delivery) => ({
      ...delivery,
      attempts: delivery.attempts.map(({ response_headers: _headers, ...attempt }) => attempt),
    })),
  }
}

describe('the headers of a response', () => {
  it('are in the delivery, its list and its stream message', async () => {
    const simulator = await openAnswered()
    const listed = await onlyDelivery(simulator)
    const [attempt] = (await simulator.client.deliveries.get(listed.id)).attempts
    expect(ownOf(attempt)).toEqual(own)
    expect(attempt?.response_headers?.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['Date', 'Connection']),
    )
    expect(listed.attempts).toEqual([attempt])
    let message: AttemptMessage | undefined
    for await (const { type, data } of simulator.client.stream(
      AbortSignal.timeout(5_000),
      undefined,
      startAt,
    )) {
      if (type === 'attempt') message = data
      if (type === 'live') break
    }
    expect(message?.attempt).toEqual(attempt)
  })

  it('are absent without a response', async () => {
    const simulator = await openSimulator()
    await simulator.client.endpoints.create({ url: deadUrl, event_types })
    await simulator.push('dinner')
    await simulator.idle()
    const [attempt] = (await onlyDelivery(simulator)).attempts
    expect(attempt).toMatchObject({ outcome: 'connection_refused', response_status: null })
    expect(Object.keys(attempt ?? {})).not.toContain('response_headers')
  })

  it('are saved and loaded with the state, which may be of an early version', async () => {
    const { client } = await openAnswered()
    const state = await client.state.get()
    const other = await openSimulator({ startAt })
    await other.client.state.put(state)
    expect((await other.client.state.get()).deliveries).toEqual(state.deliveries)
    await other.client.state.put(early(state))
    expect((await other.client.state.get()).deliveries).toEqual(early(state).deliveries)
  })

  it('survive a restart, also beside attempts of an early version', async () => {
    const dataDirectory = await temporaryDirectory()
    const first = await openAnswered({ dataDirectory })
    await first.client.state.put(early(await first.client.state.get()))
    await first.close()
    const second = await openSimulator({ dataDirectory })
    expect((await onlyDelivery(second)).attempts.map(ownOf)).toEqual([undefined])
    await second.client.clock.advance('2m')
    await second.close()
    const third = await openSimulator({ dataDirectory })
    expect((await onlyDelivery(third)).attempts.slice(0, 2).map(ownOf)).toEqual([undefined, own])
  })
})
