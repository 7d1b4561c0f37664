import { createServer, type AddressInfo, type Socket } from 'node:net'
import { setInterval } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openSimulator } from '../support/simulator.ts'
import { isSoak } from './seeded.ts'

const EVENTS = 300
const APART_MS = 50

/** A receiver that closes connections which have been idle for as long as events are apart. */
async function openReceiver(close: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  let reused = 0
  const server = createServer((socket) => {
    let requests = 0
    sockets.add(socket)
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket))
    socket.on('data', (bytes) => {
      if (!bytes.toString('latin1').startsWith('POST ')) return
      if (requests++ > 0) reused += 1
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      // Only a connection that has answered is idle.
      if (requests === 1) socket.setTimeout(APART_MS, () => close(socket))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, reused: () => reused }
}

test.runIf(isSoak).each<[string, (socket: Socket) => void]>([
  ['ends', (socket) => socket.end()],
  ['resets', (socket) => socket.resetAndDestroy()],
])(
  `no first attempt of ${EVENTS} deliveries, ${APART_MS} ms apart, fails at a receiver that %s connections as they are reused`,
  async (_how, close) => {
    const receiver = await openReceiver(close)
    const { client, push, idle } = await openSimulator({ allowHttpLoopback: true })
    await client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
    let pushed = 0
    for await (const _tick of setInterval(APART_MS)) {
      await push(`check-${pushed}`)
      if (++pushed === EVENTS) break
    }
    await idle()
    let seen = 0
    const failed: unknown[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await client.deliveries.list({ limit: 100, ...(cursor !== '' && { cursor }) })
      seen += page.data.length
      failed.push(...page.data.filter(({ attempts }) => attempts[0]?.outcome !== 'succeeded'))
      cursor = page.next_cursor
    }
    expect([seen, failed]).toEqual([EVENTS, []])
    // Or nothing was shown: some requests went out while the connection was being closed.
    expect(receiver.reused()).toBeGreaterThan(0)
  },
  60_000,
)
