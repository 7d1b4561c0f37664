import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { fakeOwnTimers } from '../support/fake-timers.ts'
import { openSimulator } from '../support/simulator.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const URL = 'https://shop.example/webhooks'

// Replaces only real time and timers.
beforeEach(() => {
  fakeOwnTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  // Time also goes on by itself: with a shared store, an instance renews its share of the deliveries by timers.
  const going = setInterval(() => vi.advanceTimersByTime(20), 20)
  onTestFinished(() => clearInterval(going))
})

/** A service with three deliveries that failed once and are due again in about a minute. */
async function openWithRetries() {
  const simulator = await openSimulator({ port: false })
  const attempts: string[] = []
  let arrived: () => unknown = () => {}
  simulator.receive(URL, async (request) => {
    attempts.push(((await request.json()) as { id: string }).id)
    arrived()
    return new Response(null, { status: 500 })
  })
  const headers = { authorization: `Bearer ${simulator.apiKey}`, 'content-type': 'application/json' }
  const send = async (method: string, path: string, body: object) => {
    const answer = await simulator.fetch(path, { method, headers, body: JSON.stringify(body) })
    expect(answer.status).toBe(201)
  }
  await send('POST', '/v1/webhook-endpoints', { url: URL, event_types: ['check.created'] })
  for (const id of ['a', 'b', 'c']) {
    const totals = { subtotal_cents: 0, tax_cents: 0, total_cents: 0 }
    await send('PUT', `/v1/checks/external/${id}`, {
      table: { number: '1' },
      status: 'open',
      items: [],
      totals,
    })
    await simulator.idle()
    vi.advanceTimersByTime(1_000)
  }
  expect(new Set(attempts).size).toBe(3)
  const due = [...attempts].sort()
  attempts.length = 0
  /** Resolves once there were three more attempts. Asking whether the service is idle would wake it. */
  const three = () => new Promise<void>((resolve) => (arrived = () => attempts.length >= 3 && resolve()))
  return { simulator, attempts, due, three }
}

test('after eight hours of sleep, all due attempts are made within 15 seconds, each once', async () => {
  const { simulator, attempts, due, three } = await openWithRetries()
  const attempted = three()
  vi.setSystemTime(Date.now() + 8 * HOUR) // Timers stood still meanwhile.
  vi.advanceTimersByTime(15_000)
  await attempted
  await simulator.idle()
  expect([...attempts].sort()).toEqual(due)
})

test('setting the machine clock back by two hours makes no attempt early', async () => {
  const { simulator, attempts, due, three } = await openWithRetries()
  const attempted = three()
  vi.setSystemTime(Date.now() - 2 * HOUR)
  vi.advanceTimersByTime(2 * HOUR)
  await simulator.idle()
  expect(attempts).toEqual([])
  vi.advanceTimersByTime(MINUTE)
  await attempted
  await simulator.idle()
  expect([...attempts].sort()).toEqual(due)
})
