import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent, request } from 'undici'
import { onTestFinished } from 'vitest'
import { openReceiver, testAuthority, type TestSimulator } from '../../support/simulator.ts'

/** A message on its way, whose parts a mutation may change. */
export interface Passing {
  method: string
  path: string
  headers: Record<string, string>
  body: string
  /** Of answers. */
  status: number
}

export interface Sending {
  headers: Record<string, string>
  body: string
  secret: string
  /** How many have gone the same way before. */
  before: number
}

/** One rule broken: in what reaches the service, in what it answers, or in what it delivers. */
export interface Mutation {
  asked?(message: Passing): void
  answered?(message: Passing): void
  /** What the service is told that the receiver answered. */
  outcome?(status: number): number
  /** How often the delivery is sent, once if nothing is said. */
  delivered?(sending: Sending): number | undefined
}

/** Stands before a service and breaks one rule of it; the service itself knows nothing of this. */
export async function openMutated({ url }: Pick<TestSimulator, 'url'>, mutation: Mutation): Promise<string> {
  const relays = mutation.delivered !== undefined || mutation.outcome !== undefined
  const relay = relays ? await openRelay(mutation) : undefined
  const server = createServer((incoming, response) => {
    void (async () => {
      const message = await messageOf(incoming)
      mutation.asked?.(message)
      const registers = message.method === 'POST' && message.path === '/v1/webhook-endpoints'
      const target = registers && relay ? relay.takeOver(message) : undefined
      const { method, path, headers, body } = message
      const answer = await request(url + path, {
        method: method as 'GET',
        headers,
        body: body === '' ? null : body,
      })
      const told: Passing = {
        ...message,
        status: answer.statusCode,
        headers: Object.fromEntries(
          Object.entries(answer.headers).map(([name, value]) => [name, String(value)]),
        ),
        body: await answer.body.text(),
      }
      if (target !== undefined) relay?.secrets.set(target, /whsec_[\w-]+/.exec(told.body)?.[0] ?? '')
      mutation.answered?.(told)
      delete told.headers['content-length']
      delete told.headers['transfer-encoding']
      response.writeHead(told.status, told.headers).end(told.body)
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

async function messageOf(incoming: IncomingMessage): Promise<Passing> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk)
  const { authorization, 'content-type': type } = incoming.headers
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: {
      ...(authorization !== undefined && { authorization }),
      ...(type !== undefined && { 'content-type': type }),
    },
    body: Buffer.concat(chunks).toString(),
    status: 0,
  }
}

/** Registers itself in the place of others, and passes on to them what comes, changed. */
async function openRelay({ delivered, outcome }: Mutation) {
  const dispatcher = new Agent({ connect: { ca: (await testAuthority()).certificatePem } })
  onTestFinished(() => dispatcher.destroy())
  const targets: string[] = []
  const counts = new Map<string, number>()
  const secrets = new Map<string, string>()
  const receiver = await openReceiver((response, { url, headers, body, method }) => {
    void (async () => {
      const target = targets[Number(url.slice(1))] ?? ''
      const before = counts.get(target) ?? 0
      counts.set(target, before + 1)
      const { 'content-length': _length, connection: _connection, host: _host, ...kept } = headers
      const sending = {
        headers: kept as Record<string, string>,
        body: body.toString(),
        secret: secrets.get(target) ?? '',
        before,
      }
      let status = 500
      for (let left = delivered?.(sending) ?? 1; left > 0; left--) {
        const answer = await request(target, {
          method: method as 'POST',
          headers: sending.headers,
          body: sending.body,
          dispatcher,
        })
        await answer.body.dump()
        status = answer.statusCode
      }
      response.writeHead(outcome?.(status) ?? status).end()
    })()
  })
  return {
    secrets,
    takeOver(message: Passing): string | undefined {
      const wanted = JSON.parse(message.body) as { url: string }
      if (!wanted.url.startsWith('https://')) return undefined
      const url = `${receiver.url}${targets.push(wanted.url) - 1}`
      message.body = JSON.stringify({ ...wanted, url })
      return wanted.url
    },
  }
}
