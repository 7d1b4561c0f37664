import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isSoak, sampled } from '../soak/seeded.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { anyRequests, tame } from './documented/any-request.ts'
import { operations, type Documented } from './documented/operations.ts'
import { keyWithout, refused } from './documented/refused-requests.ts'
import { openService, type Asked, type Service } from './documented/service.ts'
import { validRequest, withParameter } from './documented/valid-requests.ts'

/** `TABWIRE_FUZZ_RUNS=10000 npx vitest run test/hostile/documented.test.ts` for more of it; the seed repeats a run. */
const runs = Number(process.env.TABWIRE_FUZZ_RUNS ?? (isSoak ? 300 : 40))
const seed = Number(process.env.TABWIRE_FUZZ_SEED ?? 20_261_121)

/** Sends a request. Fails unless the response was checked against the document and is valid. Returns its status. */
async function askJudged(service: Service, operation: Documented, asked: Asked): Promise<number> {
  const { status, issues } = await service.ask(operation, asked)
  expect({ operation: operation.id, status, issues }).toEqual({ operation: operation.id, status, issues: [] })
  return status
}

describe('every response is documented: status, type, headers and schema', () => {
  /** By operation and status; 500 and 503 are bugs and failing disks. */
  const documented = operations.flatMap(({ id, statuses }) =>
    statuses.filter((status) => status < 500).map((status) => `${id} ${status}`),
  )

  // With simulators on PostgreSQL, it takes a minute on a busy machine.
  test('of every operation, with each of its documented statuses', { timeout: 180_000 }, async () => {
    const reached = new Set<string>()
    const ask = async (service: Service, operation: Documented, asked: Asked) =>
      reached.add(`${operation.id} ${await askJudged(service, operation, asked)}`)

    const service = await openService()
    for (const operation of operations.toSorted(byHarm)) {
      const asked = await validRequest(operation, service)
      await ask(service, operation, asked)
      if (/^push\w*Check$/.test(operation.id)) await ask(service, operation, asked)
      for (const status of operation.statuses) {
        const spoiled = await refused[status]?.(operation, asked, service)
        if (spoiled !== undefined) await ask(service, operation, spoiled)
      }
    }
    const busy = await openService({ rateLimit: { requests: 2, seconds: 3600 } })
    for (const operation of operations.filter(({ path }) => path.startsWith('/v1/')))
      await ask(busy, operation, { path: withParameter(operation.path, 'a'), key: busy.apiKey })
    const clockless = await openService({ clock: createManualClock() })
    for (const operation of operations.filter(({ path }) => /\/(clock|state|reset)$/.test(path)))
      await ask(clockless, operation, {
        path: operation.path,
        key: clockless.apiKey,
        ...(operation.id === 'moveClock' && {
          body: '{"freeze":true}',
          headers: { 'content-type': 'application/json' },
        }),
      })

    // Whole states may be of any length that a test would want to send.
    expect(documented.filter((pair) => !reached.has(pair))).toEqual(['loadState 413'])
    expect([...reached].filter((pair) => !documented.includes(pair))).toEqual([])
  })

  test(
    `of ${runs} generated requests, valid or nearly so, seed ${seed}`,
    async () => {
      const service = await openService()
      const reached = new Map<string, number>()
      const made = new Map(
        await Promise.all(
          operations.map(
            async (operation) => [operation.id, await validRequest(operation, service)] as const,
          ),
        ),
      )
      const isDocumented = fc.asyncProperty(anyRequests(service, made), async (requests) => {
        for (const [operation, asked] of requests) {
          const pair = `${operation.id} ${await askJudged(service, operation, asked)}`
          reached.set(pair, (reached.get(pair) ?? 0) + 1)
          if (operation.id === 'setFaults') await service.client.faults.clear()
        }
      })
      await fc.assert(isDocumented, { numRuns: Math.ceil(runs / tame.length), seed })
      expect([...reached.keys()].filter((pair) => !documented.includes(pair))).toEqual([])
      process.stderr.write(
        `documented: ${reached.size} of ${documented.length} pairs of operation and status\n`,
      )
    },
    20_000 + runs * 20,
  )
})

/** The one that takes everything away comes last. */
function byHarm(one: Documented, other: Documented): number {
  return Number(one.id === 'resetState') - Number(other.id === 'resetState')
}

test('operations that require a key, scope or body type refuse requests without it', async () => {
  const service = await openService()
  const { apiKey } = service
  const statusOf = async (operation: Documented, asked: Asked) => askJudged(service, operation, asked)
  for (const operation of sampled(operations, 4)) {
    const { id, path: template, scope, body } = operation
    const path = withParameter(template, 'a')
    if (scope !== undefined) {
      const answers = [
        await statusOf(operation, { path, key: null }),
        await statusOf(operation, { path, key: `${apiKey}x` }),
        await statusOf(operation, { path, key: null, headers: { authorization: apiKey } }),
        await statusOf(operation, { path, key: null, headers: { 'x-api-key': apiKey } }),
        await statusOf(operation, { path, key: await keyWithout(scope, service) }),
      ]
      expect([id, ...answers]).toEqual([id, 401, 401, 401, 401, 403])
    }
    if (body === undefined) continue
    const asked = await validRequest(operation, service)
    const untyped: number[] = []
    for (const type of [{}, { 'content-type': '' }, { 'content-type': 'application/jsonp' }]) {
      const { 'content-type': _typed, ...others } = asked.headers ?? {}
      untyped.push(await statusOf(operation, { ...asked, headers: { ...others, ...type } }))
    }
    expect([id, ...untyped]).toEqual([id, 415, 415, 415])
  }
})
