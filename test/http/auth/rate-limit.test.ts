import { describe, expect, it, vi } from 'vitest'
import { timers } from '../../../src/timers.ts'
import { errorOf, openSimulator } from '../../support/simulator.ts'

/** An hour: no test comes to the end of the window. */
const rateLimit = { requests: 3, seconds: 3600 }

describe('a rate limit', () => {
  it('answers 429 beyond the limit of a key, with Retry-After in whole seconds', async () => {
    const simulator = await openSimulator({ rateLimit })
    const routes = [
      'GET /v1/locations',
      'HEAD /v1/checks',
      'GET /v1/nowhere',
      'GET /v1/checks',
      'DELETE /v1/checks',
    ]
    const answers = []
    for (const route of routes) answers.push(await simulator.call(route))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 429, 429])
    for (const answer of answers.slice(3)) {
      const error = errorOf(answer)
      const seconds = Number(answer.headers.get('retry-after'))
      expect(error).toMatchObject({ code: 'rate_limited', retry_after_seconds: seconds })
      expect(error.message).toContain('3 requests per 3600 seconds')
      expect(Number.isInteger(seconds)).toBe(true)
      expect(seconds).toBeGreaterThan(3500)
      expect(seconds).toBeLessThanOrEqual(3600)
    }
  })

  it('counts each key separately, and requests without a key not at all', async () => {
    const simulator = await openSimulator({ rateLimit })
    const other = await simulator.key(['read'])
    const call = (key: string | null) => simulator.call('GET /v1/checks', { key })
    for (let index = 0; index < 5; index++) expect((await call(null)).status).toBe(401)
    for (let index = 0; index < 5; index++) expect((await call('twk_unknown')).status).toBe(401)
    const statuses = async (key: string) => {
      const answers = await Promise.all([1, 2, 3, 4].map(() => call(key)))
      return answers.map(({ status }) => status).sort((a, b) => a - b)
    }
    expect(await statuses(simulator.apiKey)).toEqual([200, 200, 200, 429])
    expect(await statuses(other)).toEqual([200, 200, 200, 429])
  })

  it('applies to /v1 only, and its refusals are in the request log', async () => {
    const simulator = await openSimulator({ rateLimit: { requests: 1, seconds: 3600 } })
    await simulator.push('a')
    const refused = await simulator.push('a', { status: 'closed' })
    expect(errorOf(refused).message).toContain('1 request per 3600 seconds')
    const { data } = (await simulator.call('GET /_sim/requests')).json as {
      data: { id: string; status: number }[]
    }
    expect(data).toMatchObject([{ id: refused.headers.get('x-request-id'), status: 429 }, { status: 201 }])
    for (let index = 0; index < 3; index++)
      expect((await simulator.call('GET /_sim/requests')).status).toBe(200)
  })

  it('accepts a key again after its window, in real time', async () => {
    let now = 1_000
    vi.spyOn(timers, 'elapsed').mockImplementation(() => now)
    // With a seed it is in memory: a shared sandbox counts by the time of its database.
    const simulator = await openSimulator({ seed: 1, rateLimit: { requests: 1, seconds: 60 } })
    await simulator.client.clock.freeze(true)
    const statusAt = async (time: number) => {
      now = time
      return (await simulator.call('GET /v1/checks')).status
    }
    const statuses = []
    for (const time of [1_000, 1_000, 60_999, 61_000, 61_000]) statuses.push(await statusAt(time))
    expect(statuses).toEqual([200, 429, 429, 200, 429])
  })
})
