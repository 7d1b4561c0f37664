import autocannon from 'autocannon'
import { expect, test } from 'vitest'
import { checkBody, startService, type RunningService } from '../support/cli.ts'
import { openFiles, residentKiB, trendOf } from './process-figures.ts'
import { isSoak } from './seeded.ts'

const CONNECTIONS = 32
const PER_SECOND = 5_000
const SECONDS = 60
/** A heap grows in steps, so one minute may rise; a leak rises in each of them. */
const MINUTES = 3
/** Pushes until the process has grown into its work, also on a slow machine: three times the events that it keeps. */
const WARM_UP = 30_000

/** Pushes a few checks again and again: so many in all, or so many a second for so long. */
async function load({ url, key }: RunningService, how: { amount: number } | { duration: number }) {
  let number = 0
  const next = () => {
    const body = JSON.stringify(checkBody({ table: { number: String(number) } }))
    return { path: `/v1/checks/external/check-${number++ % 100}`, body }
  }
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const { non2xx, errors, requests } = await autocannon({
    url,
    connections: CONNECTIONS,
    ...('amount' in how ? how : { ...how, overallRate: PER_SECOND }),
    requests: [{ method: 'PUT', setupRequest: (request) => ({ ...request, ...next(), headers }) }],
  })
  return { failed: non2xx + errors, sent: requests.total }
}

/** The memory that a process has while something is done, in KiB, four times a second. */
async function residentDuring(pid: number, work: () => Promise<void>): Promise<number[]> {
  const looks: number[] = []
  const timer = setInterval(() => looks.push(residentKiB(pid)), 250)
  await work().finally(() => clearInterval(timer))
  return looks
}

test.skipIf(process.platform !== 'linux')(
  'the service frees its files and its memory after a load',
  async () => {
    const service = await startService([], { isNewProcess: true })
    const pid = service.process.child.pid ?? 0
    await (await service.call('GET', '/v1/locations')).text()
    // The connection of that call stays open for a while.
    const before = openFiles(pid)
    const { failed, sent } = await load(service, { amount: 500 })
    expect([failed, sent]).toEqual([0, 500])
    if (isSoak) {
      await load(service, { amount: WARM_UP })
      let trend = Infinity
      for (let minute = 1; minute <= MINUTES && trend >= 0.2; minute += 1) {
        const looks = await residentDuring(pid, async () => {
          const { failed } = await load(service, { duration: SECONDS })
          expect(failed).toBe(0)
        })
        // Garbage comes and goes, so its line counts, and no single height.
        trend = trendOf(looks)
        process.stderr.write(
          `soak: at most ${Math.max(...looks)} KiB in a load, trend ${(trend * 100).toFixed(0)} %\n`,
        )
      }
      expect(trend).toBeLessThan(0.2)
    }
    // The other side of a connection learns of its end a moment later.
    while (openFiles(pid) > before) await new Promise((resolve) => setImmediate(resolve))
    expect(await service.stop()).toMatchObject({ code: 0, stderr: '' })
  },
  isSoak ? 8 * SECONDS * 1_000 : 20_000,
)
