import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'

/** A delivery as it came. */
export interface Arrival {
  method: string
  headers: IncomingMessage['headers']
  /** The raw body. */
  body: Buffer
}

/** A path of the receiver that belongs to one endpoint. */
export interface Hook {
  url: string
  arrivals: Arrival[]
  /** Resolves with the `number`th arrival, from 1 on, or with `undefined` when it does not come in time. */
  arrival(number: number): Promise<Arrival | undefined>
  /** The statuses of the answers, the last of which stays; 204 unless said otherwise. */
  answer(...statuses: readonly number[]): void
}

export interface Hooks {
  open(): Hook
  /** How often a sender broke off before it had sent anything, as it does when it does not trust the certificate. */
  distrusted(): number
  close(): Promise<void>
}

/** A local delivery takes milliseconds; what has not come by then is taken not to come, on a busy machine too. */
const PATIENCE_MS = 5_000
/** Where one has not come, others will not either, and a report is wanted soon. */
const SHORT_PATIENCE_MS = 1_500

interface Place {
  tls: { cert: string; key: string }
  /** Under which the service reaches this receiver; by default its own address. */
  publicUrl?: string | undefined
  /** 0 is any that is free. */
  port?: number
}

/** An HTTPS receiver that takes whatever comes and judges nothing. */
export async function openHooks({ tls, publicUrl, port = 0 }: Place): Promise<Hooks> {
  const hooks = new Map<string, (arrival: Arrival, response: ServerResponse) => void>()
  let distrusted = 0
  let patience = PATIENCE_MS
  const server = createServer(tls, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined)
    request.on('end', () => {
      const take = hooks.get(/[^/]*$/.exec(request.url ?? '')?.[0] ?? '')
      const { method = '', headers } = request
      if (take === undefined) response.writeHead(404).end()
      else take({ method, headers, body: Buffer.concat(chunks) }, response)
    })
  })
  server.on('tlsClientError', () => (distrusted += 1))
  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen(port, '127.0.0.1', resolve),
  )
  const own = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const base = (publicUrl ?? own).replace(/\/+$/, '')
  return {
    open() {
      const name = `hook-${hooks.size + 1}`
      const { hook, take } = createHook(`${base}/${name}`, {
        patience: () => patience,
        missed: () => (patience = SHORT_PATIENCE_MS),
      })
      hooks.set(name, take)
      return hook
    },
    distrusted: () => distrusted,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

interface Patience {
  /** How many milliseconds an arrival is waited for. */
  patience(): number
  /** One was waited for in vain. */
  missed(): void
}

function createHook(url: string, { patience, missed }: Patience) {
  const arrivals: Arrival[] = []
  const waiting = new Set<() => void>()
  let answers: readonly number[] = [204]
  let turn = 0
  const hook: Hook = {
    url,
    arrivals,
    arrival: (number) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => {
          missed()
          done()
        }, patience())
        const done = () => {
          clearTimeout(timer)
          waiting.delete(look)
          resolve(arrivals[number - 1])
        }
        const look = () => {
          if (arrivals.length >= number) done()
        }
        waiting.add(look)
        look()
      }),
    answer(...statuses) {
      answers = statuses
      turn = 0
    },
  }
  const take = (arrival: Arrival, response: ServerResponse) => {
    arrivals.push(arrival)
    const status = answers[Math.min(turn++, answers.length - 1)] ?? 204
    response.writeHead(status, status === 302 ? { location: `${url}-elsewhere` } : {}).end()
    for (const look of waiting) look()
  }
  return { hook, take }
}
