import { describe, expect, it, onTestFinished } from 'vitest'
import { openListener } from '../../src/cli/listen/tunnel.ts'
import { listenTo } from '../../src/cli/listen/session.ts'
import { createClient } from '../../src/client.ts'
import { newSecret } from '../../src/ids.ts'
import { runChild, type Child } from '../store/child.ts'
import { checkBody, emptyDirectory } from '../support/cli.ts'
import { startReceiver } from '../support/https-receiver.ts'
import { postgresPrograms } from '../support/postgres.ts'
import { startRoundRobin } from '../support/round-robin.ts'
import { sharedStore } from '../support/shared-store.ts'

const PUSHES = 24

/** Leases that end soon after a kill. */
const deliveryTimes = { timeoutMs: 3_500, bodyTimeoutMs: 100, leaseMs: 9_000, renewMs: 300, pollMs: 50 }

/** An instance, as it was built: Node 20 reads no TypeScript. */
const program = `
  import { createSimulator } from './index.js'
  const { url, apiKey } = await createSimulator({ ...JSON.parse(process.argv[1]), ref: true })
  console.log(JSON.stringify({ url, apiKey }))
`

interface Instance {
  child: Child
  url: string
  apiKey: string
}

describe.skipIf(postgresPrograms === undefined)('instances that share a sandbox', () => {
  const shared = sharedStore()

  it(
    'reach one listener exactly once per attempt, also when the instance of its stream is killed',
    { timeout: 120_000 },
    async () => {
      const start = async (): Promise<Instance> => {
        const options = { store: shared.database.url, sandbox: shared.sandbox, deliveryTimes }
        const child = runChild(program, JSON.stringify(options))
        onTestFinished(() => child.kill())
        return { child, ...(JSON.parse((await child.line()) ?? '') as Pick<Instance, 'url' | 'apiKey'>) }
      }
      const first = await start()
      const instances = [first, await start(), await start()]
      const proxy = await startRoundRobin(instances.map(({ url }) => url))
      onTestFinished(() => proxy.close())
      const receiver = await startReceiver({
        // Attempts are in flight most of the time.
        answer: (response, _received, index) =>
          void setTimeout(() => response.writeHead(204).end(), (index * 37) % 400),
      })
      onTestFinished(() => receiver.close())

      const targets = Array.from({ length: 3 }, (_, index) => ({
        to: new URL(`${receiver.url}${index}`),
        events: ['check.created' as const],
        headers: [],
      }))
      const directory = await emptyDirectory()
      const options = { directory, service: proxy.url, targets, ca: undefined, insecure: false }
      const tunnel = await openListener(options)
      onTestFinished(() => tunnel.close())
      const ending = new AbortController()
      onTestFinished(() => ending.abort())
      const client = createClient({ url: proxy.url, apiKey: first.apiKey })
      const connect = async () => client
      const told: string[] = []
      let pushes: Promise<void> | undefined
      let killed = 0
      const pushAll = async () => {
        for (let number = 0; number < PUSHES; number += 1) {
          const alive = instances.slice(killed)
          const to = alive[number % alive.length]
          if (to === undefined) throw new Error('No instance is left.')
          await createClient(to).checks.push(`c${number}`, JSON.stringify(checkBody()))
          // The stream was opened at the first instance.
          if (number !== PUSHES / 2) continue
          killed = 1
          proxy.leave(first.url)
          await first.child.kill()
        }
      }
      const session = { connect, tunnel, secret: newSecret(), signal: ending.signal }
      for await (const event of listenTo(session)) {
        if (event.type === 'ready') pushes = pushAll()
        if (event.type === 'attempt')
          told.push(`${event.data.external_check_id} ${event.data.attempt.outcome}`)
        if (told.length === 3 * PUSHES) break
      }
      await pushes
      const each = Array.from({ length: PUSHES }, (_, number) => `c${number} succeeded`)
      expect(told.toSorted()).toEqual([...each, ...each, ...each].toSorted())
      const received = receiver.requests.map(({ url, body }) => {
        const { data } = JSON.parse(body.toString()) as { data: { external_id: string } }
        return `${url} ${data.external_id}`
      })
      expect(new Set(received).size).toBe(received.length)
      expect(received).toHaveLength(3 * PUSHES)
    },
  )
})
