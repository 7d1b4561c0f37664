import { createClient } from '../../../src/client.ts'
import type { Check, Push } from '../../../src/model/check.ts'
import type { Claim, Payment } from '../../../src/model/guests/records.ts'
import { eventTypes } from '../../../src/model/event.ts'
import { startSimulator } from '../../../src/simulator.ts'
import { copyOf } from '../../store/folder.ts'
import { startService } from '../../support/cli.ts'
import { startReceiver, type Receiver } from '../../support/https-receiver.ts'
import type { History } from './history.ts'
import type { Model } from './model.ts'

/** A service that runs on a directory. */
interface Running {
  url: string
  key: string
  stop(): Promise<unknown>
  /** Kills it. Returns the directory to continue in. */
  kill(): Promise<string>
}
interface List<T> {
  data: T[]
}

export type Start = (directory: string) => Promise<Running>

/** In this process, a kill is simulated by continuing with a copy of the disk at that time. */
export const startInside: Start = async (directory) => {
  const bugs: unknown[] = []
  const options = { port: 0, allowHttpLoopback: true, disableAfter: 0 }
  const simulator = await startSimulator({
    ...options,
    dataDirectory: directory,
    onError: (bug) => bugs.push(bug),
  })
  const stop = async () => {
    await simulator.close()
    if (bugs.length > 0) throw new AggregateError(bugs, 'The service has met with bugs.')
  }
  return {
    url: simulator.url,
    key: simulator.apiKey,
    stop,
    async kill() {
      const copy = await copyOf(directory)
      await stop()
      return copy
    },
  }
}

/** In a separate process, which can be killed. */
export const startApart: Start = async (directory) => {
  const flags = ['--data-dir', directory, '--allow-http-loopback', '--disable-after', '0']
  const { url, key, stop } = await startService(flags)
  return { url, key, stop: () => stop(), kill: () => stop('SIGKILL').then(() => directory) }
}

export type Real = Awaited<ReturnType<typeof openReal>>

/** The system under test: a service and the one receiver of all its endpoints, both recorded. */
export async function openReal(start: Start, firstDirectory: string) {
  let directory = firstDirectory
  let service = await start(directory)
  const receiver = await startReceiver()
  const requestIds: string[] = []
  const answer = async (method: string, path: string, json?: unknown) => {
    const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' }
    const body = json === undefined ? null : JSON.stringify(json)
    const response = await fetch(service.url + path, { method, headers, body })
    requestIds.push(response.headers.get('x-request-id') ?? 'none')
    return { status: response.status, json: await response.json() }
  }
  return {
    put: (id: string, push: Push) => answer('PUT', `/v1/checks/external/${id}`, push),
    /** The check, its claims and its payments, newest first. */
    async get(id: string) {
      const ofCheck = `external_check_id=${id}&limit=100`
      const paths = [`checks/external/${id}`, `claims?${ofCheck}`, `payments?${ofCheck}`]
      const [check, claims, payments] = await Promise.all(paths.map((path) => answer('GET', `/v1/${path}`)))
      return {
        status: check?.status,
        check: check?.json as Check,
        claims: (claims?.json as List<Claim> | undefined)?.data ?? [],
        payments: (payments?.json as List<Payment> | undefined)?.data ?? [],
      }
    },
    claim: (id: string, body: object) => answer('POST', `/_sim/checks/${id}/claims`, body),
    release: (id: string) => answer('DELETE', `/_sim/claims/${id}`),
    pay: (id: string, body: object) => answer('POST', `/_sim/checks/${id}/payments`, body),
    refund: (id: string, body: object) => answer('POST', `/_sim/payments/${id}/refunds`, body),
    register: (number: number) =>
      answer('POST', '/v1/webhook-endpoints', { url: `${receiver.url}${number}`, event_types: eventTypes }),
    receiver,
    async restart() {
      await service.stop()
      service = await start(directory)
    },
    async kill() {
      directory = await service.kill()
      service = await start(directory)
    },
    /** Completes all deliveries. Returns the history. */
    async history({ checks, events, endpoints }: Model): Promise<History> {
      receiver.answer(200)
      const moved = await answer('POST', '/_sim/clock', { advance: '40h' })
      if (moved.status !== 200) throw new Error(JSON.stringify(moved.json))
      return {
        acknowledged: [...checks.keys()],
        stored: (await listed('checks')).map(({ external_id }) => external_id),
        expected: events,
        events: (await listed('events')).reverse(),
        endpoints,
        received: receivedBy(receiver),
        requestIds,
      }
    },
    async close() {
      await service.stop()
      await receiver.close()
    },
  }

  async function listed<C extends 'checks' | 'events'>(collection: C) {
    const client = createClient({ url: service.url, apiKey: service.key })
    type Item = Awaited<ReturnType<(typeof client)[C]['list']>>['data'][number]
    const all: Item[] = []
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const query: Record<string, string | number> = cursor === '' ? { limit: 100 } : { limit: 100, cursor }
      const page = (await client[collection].list(query)) as { data: Item[]; next_cursor: string | null }
      all.push(...page.data)
      cursor = page.next_cursor ?? undefined
    }
    return all
  }
}

function receivedBy({ requests }: Receiver): History['received'] {
  return requests.map(({ url, body }) => ({ endpoint: Number(url.slice(1)), body: body.toString() }))
}
