import { Agent, request } from 'node:http'
import { onTestFinished } from 'vitest'
import type { SimulatorOptions } from '../../../src/simulator.ts'
import { ann, sitDown } from '../../http/guest-table/table-page-fixtures.ts'
import { onJudged } from '../../support/judged-answers.ts'
import { check, deadUrl, item, openReceiver, openSimulator, totals } from '../../support/simulator.ts'
import type { Documented } from './operations.ts'

export interface Asked {
  path: string
  /** `null` sends none. */
  key: string | null
  headers?: Record<string, string>
  body?: string
}

export type Service = Awaited<ReturnType<typeof openService>>

/** A service that creates any record on demand, and returns responses with their schema issues. */
export async function openService(options: SimulatorOptions = {}) {
  const simulator = await openSimulator({ bodyLimit: 20_000, disableAfter: 1, ...options })
  const { url } = simulator
  const agent = new Agent({ keepAlive: true })
  const judged = new Map<unknown, readonly string[]>()
  onTestFinished(onJudged((answer, issues) => judged.set(answer.headers['x-request-id'], issues)))
  onTestFinished(() => agent.destroy())
  return {
    ...simulator,
    /** Cache of keys by missing scope. */
    keysWithout: new Map<string, string>(),
    make: await makersOf(simulator),
    /** The page of the check's table, and a guest there. */
    table: { ...(await sitDown(simulator)), guest: ann },
    /** Sends a request; streams end after their headers. `issues` is `undefined` for unchecked responses. */
    ask({ method }: Pick<Documented, 'method'>, { path, key, headers, body }: Asked) {
      // An empty `Host` is left as it is.
      const setHost = headers?.host === undefined
      const all = { ...headers, ...(key !== null && { authorization: `Bearer ${key}` }) }
      return new Promise<{ status: number; text: string; issues: readonly string[] | undefined }>(
        (resolve, reject) => {
          const sent = request(url + path, { method, agent, headers: all, setHost }, (answer) => {
            const { statusCode: status = 0, headers: sentHeaders } = answer
            let text = ''
            const end = () => resolve({ status, text, issues: judged.get(sentHeaders['x-request-id']) })
            if (sentHeaders['content-type'] === 'text/event-stream') {
              end()
              return void answer.destroy()
            }
            answer.setEncoding('utf8').on('data', (part: string) => (text += part))
            return answer.on('error', reject).on('end', end)
          })
          sent.on('error', reject).end(body)
        },
      )
    },
  }
}

/** By the word before `{id}` in a path: gives the id of a new one, or of one that there is. */
async function makersOf({ client, idle }: Awaited<ReturnType<typeof openSimulator>>) {
  // Much of what costs little, so that it lasts for all the requests of a test.
  const items = [item('burger', { quantity: 1_000, price_cents: 100 })]
  const { url } = await openReceiver()
  await client.endpoints.create({ url, event_types: ['feedback.received'] })
  const endpoint = () => client.endpoints.create({ url: deadUrl, event_types: ['check.closed'] })
  await client.checks.push('a', check({ items, totals: totals(100_000) }))
  await client.guests.rate('a', { rating: 5 })
  await idle()
  const first = async (listed: Promise<{ data: { id: string }[] }>) => (await listed).data[0]?.id ?? ''
  return {
    claims: async () =>
      (await client.guests.claim('a', { items: [{ external_id: 'burger', quantity: 1 }] })).id,
    payments: async () => (await client.guests.pay('a', { amount_cents: 2 })).id,
    feedback: () => first(client.feedback.list()),
    'webhook-endpoints': async () => (await endpoint()).id,
    deliveries: () => first(client.deliveries.list({ status: 'delivered' })),
    events: () => first(client.events.list()),
    async requests() {
      await client.locations.list()
      return first(client.requests.list())
    },
    keys: async () => (await client.keys.create({ scopes: ['read'] })).id,
  }
}
