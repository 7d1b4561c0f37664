import { connect, type Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import type { TableAddress } from '../../src/client.ts'
import { median } from '../bench/pushes.ts'
import { serve, startService, type RunningService } from '../support/cli.ts'
import { residentKiB } from './process-figures.ts'
import { isSoak } from './seeded.ts'

const MIB = 2 ** 20
const READERS = 20
const PUSHES = isSoak ? 60 : 12

/** A check of some 960 KiB, which differs from the one before in all of its items. */
function largeCheck(number: number) {
  const items = Array.from({ length: 900 }, (_, index) => ({
    external_id: `line-${index}`,
    name: 'Copper Burger',
    quantity: 1,
    price_cents: 0,
    note: `${number} `.padEnd(1_000, 'x'),
  }))
  const totals = { subtotal_cents: 0, tax_cents: 0, total_cents: 0 }
  return { table: { number: '1' }, status: 'open', items, totals }
}

/** Makes all pushes, and resolves with the median of what was measured after each of them. */
async function push({ call }: RunningService, measure = () => 0): Promise<number> {
  const measured: number[] = []
  for (let number = 0; number < PUSHES; number += 1) {
    const answer = await call('PUT', '/v1/checks/external/large', largeCheck(number))
    await answer.arrayBuffer()
    expect([200, 201]).toContain(answer.status)
    measured.push(measure())
  }
  return median(measured)
}

/** Opens a stream, reads its beginning, and no further. */
function stall({ url, key }: RunningService, path: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined)
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`)
  return new Promise((resolve) => {
    socket.once('data', () => resolve(socket.pause()))
  })
}

/** Returns the live memory of the process after garbage collection, in bytes. */
function held(): number {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const streams: readonly [what: string, pathOf: (service: RunningService) => Promise<string>][] = [
  ['the stream', async () => '/_sim/stream'],
  ['the stream since a time', async () => '/_sim/stream?since=2020-01-01T00:00:00.000Z'],
  [
    'the stream of a table',
    async ({ call }) => {
      const { url } = (await (await call('GET', '/_sim/tables/1')).json()) as TableAddress
      return `${new URL(url).pathname}/stream`
    },
  ],
]

/** Stored events of large pushes are large, independent of subscribers, so only a few are kept. */
const EVENTS_LEFT_OUT = { keepEvents: 5 }

describe(`${READERS} stalled subscribers`, () => {
  test.each(streams)(
    `of %s take less than 150 MiB for ${PUSHES} pushes of 960 KiB`,
    async (_what, pathOf) => {
      const service = await serve(EVENTS_LEFT_OUT)
      const path = await pathOf(service)
      const sockets = await Promise.all(Array.from({ length: READERS }, () => stall(service, path)))
      const before = held()
      await push(service)
      expect((held() - before) / MIB).toBeLessThan(150)
      for (const socket of sockets) socket.destroy()
    },
  )

  // A history is each reader's own: of large requests, some six MiB for each.
  const shared = streams.filter(([what]) => what !== 'the stream since a time')
  test.runIf(isSoak && process.platform === 'linux').each(shared)(
    'of %s make the process less than 150 MiB larger by the median, including garbage',
    async (_what, pathOf) => {
      const service = await startService(['--keep-events', String(EVENTS_LEFT_OUT.keepEvents)])
      const resident = () => residentKiB(service.process.child.pid ?? 0)
      // A process grows with its first pushes, with readers or without.
      await push(service)
      // Garbage comes and goes: on a busy machine the largest sizes of equal runs differ by more than 100 MiB.
      const before = await push(service, resident)
      const path = await pathOf(service)
      const sockets = await Promise.all(Array.from({ length: READERS }, () => stall(service, path)))
      const grown = Math.round(((await push(service, resident)) - before) / 1024)
      process.stderr.write(`soak: ${READERS} stalled readers of ${path}: ${grown} MiB more\n`)
      expect(grown).toBeLessThan(150)
      for (const socket of sockets) socket.destroy()
      expect(await service.stop()).toMatchObject({ code: 0, stderr: '' })
    },
    300_000,
  )
})
