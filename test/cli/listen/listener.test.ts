import { readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { deadLeases, takeLease } from '../../../src/cli/listen/lease.ts'
import { createListener } from '../../../src/cli/listen/listener.ts'
import { ApiError, type Client, Unreachable } from '../../../src/client.ts'
import type { OfferAnswer } from '../../../src/model/simulator/bodies.ts'
import { temporaryDirectory } from '../../support/simulator.ts'

const url = 'https://abc.listen.invalid/1'
const offered = { offer: 'off_1', delivery_id: 'dlv_1', attempt: 1, url, headers: [], body: '{}' }
const answer: OfferAnswer = { offer: 'off_1', duration_ms: 1, status: 204, headers: [], body: '' }

/** A listener, and a service that refuses its answers with these errors, one after the other. */
function listenerAt(...errors: Error[]) {
  const counts = { forwarded: 0, answered: 0 }
  const forward = async () => {
    counts.forwarded += 1
    return answer
  }
  const request = async () => {
    counts.answered += 1
    const error = errors.shift()
    if (error !== undefined) throw error
  }
  const target = { to: new URL('http://127.0.0.1:1/'), events: [], headers: [] }
  const listener = createListener('abc', [{ url, target }], { forward })
  const client = { request } as unknown as Client
  return { counts, take: (attempt = offered) => listener.take(attempt, async () => client) }
}

const refused = (status: number) => new ApiError(status, {}, null)

describe('a listener', () => {
  it.each([
    ['is away', new Unreachable('away')],
    ['refuses the key while it restarts', refused(401)],
    ['limits requests', refused(429)],
    ['has lost its database', refused(503)],
  ])('answers again when the service %s', async (_why, error) => {
    const { counts, take } = listenerAt(error)
    await take()
    expect(counts).toEqual({ forwarded: 1, answered: 2 })
  })

  it.each([404, 409])('does not answer again after %i, since the attempt has ended', async (status) => {
    const { counts, take } = listenerAt(refused(status))
    await take()
    expect(counts).toEqual({ forwarded: 1, answered: 1 })
  })

  it('forwards an offer once, and answers each copy of it', async () => {
    const { counts, take } = listenerAt()
    await Promise.all([take(), take()])
    expect(counts).toEqual({ forwarded: 1, answered: 2 })
  })

  it('ignores an offer for a URL that it does not have', async () => {
    const { counts, take } = listenerAt()
    await take({ ...offered, url: 'https://abc.listen.invalid/2' })
    expect(counts).toEqual({ forwarded: 0, answered: 0 })
  })
})

describe('the lease of a listener that has ended', () => {
  it.each<[string, object, number]>([
    ['is found', {}, 1],
    ['is found when an earlier version wrote it', { hostname: undefined, namespace: undefined }, 1],
    ['is left to its machine when that is another one', { hostname: 'another.test' }, 0],
    ['is left to its container when that is another one', { namespace: 'pid:[1]' }, 0],
  ])('%s', async (_what, changes, found) => {
    const directory = await temporaryDirectory()
    const { file } = await takeLease(directory, 'abc', { service: 'http://127.0.0.1:1', urls: [url] })
    expect(await deadLeases(directory)).toEqual([])
    const lease = JSON.parse(await readFile(file, 'utf8')) as object
    // Another process had this id.
    await writeFile(file, JSON.stringify({ ...lease, started: '0', ...changes }))
    expect(await deadLeases(directory)).toHaveLength(found)
  })
})
