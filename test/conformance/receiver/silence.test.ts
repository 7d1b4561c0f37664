import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { receiverCases } from '../../../src/conformance/receiver/cases.ts'
import type { ConformanceReport } from '../../../src/conformance/report/result.ts'
import { fixtures } from '../../support/cli.ts'
import { checked, examine, failed, idsOf } from './check.ts'

const wrong = (name: string) => [process.execPath, join(fixtures, 'receivers', 'wrong', `${name}.mjs`)]
const of = (report: ConformanceReport, id: string) => report.cases.find((one) => one.id === id)
const skipped = ({ cases }: ConformanceReport) =>
  cases.filter(({ verdict }) => verdict === 'not_checked').map(({ id }) => id)

describe('a receiver that answers nothing', () => {
  test('is given the 10 s of the specification for one plain delivery, and is asked no more', async () => {
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
    await vi.advanceTimersByTimeAsync(1)
    const report = await checking
    expect(failed(report)).toEqual(['answers_in_time'])
    expect(skipped(report)).toHaveLength(receiverCases.length - 1)
    expect(of(report, 'tampered_body')?.detail).toBe(
      'Not tried: a plain, genuine delivery was sent first, and not answered within 10 s.',
    )
    expect(requests).toBe(1)
  })

  test('fails whichever cases were asked for', async () => {
    const refuses = receiverCases.filter(({ group }) => group === 'refuses')
    const report = await checked(wrong('never-answers'), { timeoutMs: 100, cases: refuses })
    expect(failed(report)).toEqual(['tampered_body'])
    expect(report.ok).toBe(false)
  })
})

test('a receiver that leaves forged deliveries unanswered fails once, and is judged by all others', async () => {
  const report = await checked(wrong('leaves-forged-unanswered'), { timeoutMs: 600 })
  expect(failed(report)).toEqual(['tampered_body'])
  expect(skipped(report)).toEqual([...idsOf('refuses').slice(1), ...idsOf('converges')])
  expect(of(report, 'tampered_body')?.detail).toBe(
    'It was neither taken nor refused: it did not answer within 0.6 s.',
  )
  expect(of(report, 'tampered_t')?.detail).toContain('since tampered_body had none within 0.6 s')
  expect(of(report, 'header_twice')?.detail).toBe('Not tried: tampered_body and tampered_t had no answer.')
})

test('a receiver that has ended is asked for nothing but whether it is back', async () => {
  const report = await checked(wrong('ends-without-a-header'))
  expect(skipped(report)).toEqual([
    ...idsOf('refuses').slice(5),
    'answers_in_time',
    'verifies_first',
    'does_not_redirect',
    ...idsOf('converges'),
  ])
  expect(of(report, 'expired')?.detail).toBe('Not tried: nothing listens there any more since empty_header.')
})
