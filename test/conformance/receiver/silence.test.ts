import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { stateCheck } from '../../../src/cli/conformance/receiver.ts'
import { receiverCases } from '../../../src/conformance/receiver/check.ts'
import type { ConformanceReport } from '../../../src/conformance/report.ts'
import { verify } from '../../../src/signature/verify.ts'
import { fixtures } from '../../support/cli.ts'
import { openHttpServer } from '../../support/http-server.ts'
import { checked, detailOf, examine, failed, idsOf, idsWith, secret, visibleCases } from './check.ts'

const wrong = (name: string) => [process.execPath, join(fixtures, 'receivers', 'wrong', `${name}.mjs`)]
const skipped = (report: ConformanceReport) => idsWith(report, 'not_checked')

describe('a receiver that never answers', () => {
  test('gets one plain delivery, waits the 10 s of the specification, and gets no further request', async () => {
    let requests = 0
    const server = createServer(() => (requests += 1))
    onTestFinished(() => {
      vi.useRealTimers()
      server.close()
      server.closeAllConnections()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const over = vi.fn()
    const asked = once(server, 'request')
    const checking = examine(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`).finally(over)
    await asked
    await vi.advanceTimersByTimeAsync(9_999)
    expect(over).not.toHaveBeenCalled()
    // After the time limit, the connection is ended to see whether the receiver waits for that.
    await vi.advanceTimersByTimeAsync(1_001)
    const report = await checking
    expect(failed(report)).toEqual(['answers_in_time'])
    expect(skipped(report)).toHaveLength(visibleCases.length - 1)
    expect(detailOf(report, 'answers_in_time')).toBe('No response within 10 s; expected 2xx.')
    expect(detailOf(report, 'tampered_body')).toBe('Not checked: see control/answers_in_time.')
    expect(requests).toBe(1)
  })

  test('fails with any selected cases', async () => {
    const refuses = receiverCases.filter(({ group }) => group === 'refuses')
    const report = await checked(wrong('never-answers'), { timeoutMs: 100, cases: refuses })
    expect(failed(report)).toEqual(['answers_in_time'])
    expect(report.ok).toBe(false)
  })
})

/** Opens a receiver that answers one delivery after the other, each after a time. */
async function oneAfterTheOther(ms: number): Promise<string> {
  let earlier = Promise.resolve()
  const { url } = await openHttpServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      earlier = earlier.then(() => sleep(ms))
      const header = String(incoming.headers['x-service-signature'])
      const { ok } = verify({ payload: Buffer.concat(chunks), header, secret })
      void earlier.then(() => response.writeHead(ok ? 204 : 400).end())
    })
  })
  return url
}

test('a receiver that answers one delivery after the other is not late for those of the check itself', async () => {
  const cases = receiverCases.filter(({ id }) => id === 'event_check_created')
  const report = await examine(await oneAfterTheOther(200), { cases, timeoutMs: 1_500, slowMs: 100 })
  expect(idsWith(report, 'passed')).toContain('event_check_created')
})

test('a receiver that is late for some of twenty deliveries is checked after them', async () => {
  const cases = receiverCases.filter(({ id }) => /^(twenty_in_parallel|keeps_working)$/.test(id))
  const report = await examine(await oneAfterTheOther(150), { cases, timeoutMs: 2_000 })
  expect(idsWith(report, 'advised')).toEqual(['twenty_in_parallel'])
  expect(idsWith(report, 'passed')).toContain('keeps_working')
})

test('a receiver that reads until the connection ends is told so', async () => {
  const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined).resume()
    socket.on('end', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n'))
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const report = await examine(`http://127.0.0.1:${port}/`, { timeoutMs: 100 })
  expect(failed(report)).toEqual(['answers_in_time'])
  expect(detailOf(report, 'answers_in_time')).toBe(
    'No response within 0.1 s; expected 2xx. It responds when the connection ends, so it reads beyond the body. Read as many bytes as Content-Length says.',
  )
})

test('no response to forged deliveries counts as a rejection, with advice; later cases are not checked', async () => {
  const report = await checked(wrong('leaves-forged-unanswered'), { timeoutMs: 1_500 })
  expect(failed(report)).toEqual([])
  expect(idsWith(report, 'advised')).toEqual(['refuses_with_4xx'])
  expect(detailOf(report, 'refuses_with_4xx')).toBe(
    'No response within 1.5 s in forged_rejected; a 4xx is better. A status alone is no response: in Express, res.status(400) needs end().',
  )
  expect(skipped(report)).toEqual([...idsOf('refuses'), 'reveals_nothing'])
  expect(detailOf(report, 'no_header')).toBe(
    'Not checked: no response within 1 s. Only forged_rejected, the first case without a response, had 1.5 s.',
  )
  expect(detailOf(report, 'expired')).toBe('Not checked: no_header and empty_header got no response.')
})

test('a receiver that has stopped before its state is judged is an error, not a success', async () => {
  const asked = { 'state-url': 'http://127.0.0.1:2/{check_id}', 'state-header': [], seed: 1 }
  const report = await checked(wrong('ends-without-a-header'), {
    cases: receiverCases.filter(({ id, group }) => id === 'no_header' || group === 'converges'),
    state: stateCheck(asked, { ca: [], insecure: false }),
  })
  expect(idsWith(report, 'error')).toEqual(['deduplicates', 'orders', 'ignores_forged'])
  expect(detailOf(report, 'orders')).toBe('Not checked: the receiver stopped listening during no_header.')
})

test('a receiver that has stopped gets no further request except to see whether it is back', async () => {
  const report = await checked(wrong('ends-without-a-header'))
  expect(skipped(report)).toEqual([
    ...idsOf('refuses').slice(1),
    'twenty_in_parallel',
    'refuses_with_4xx',
    'reveals_nothing',
    'survives_a_broken_connection',
  ])
  expect(detailOf(report, 'no_header')).toBe('The receiver stopped: it no longer listens.')
  expect(detailOf(report, 'expired')).toBe('Not checked: the receiver stopped listening during no_header.')
})
