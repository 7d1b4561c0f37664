import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { renderListenStatus, renderTailMessage } from '../../../src/cli/render/tail.ts'
import { renderForwarded, shortUrl } from '../../../src/cli/render/attempt.ts'
import type { AttemptMessage } from '../../../src/client.ts'

const id = 'dlv_01K9YQ3S2M6W5VJ8T4R7N0ZBCD'

function message(attempt: Partial<AttemptMessage['attempt']> = {}): {
  type: 'attempt'
  data: AttemptMessage
} {
  return {
    type: 'attempt',
    data: {
      id,
      event_id: 'evt_01K9YQ3S2M6W5VJ8T4R7N0ZBCD',
      event_type: 'check.created',
      endpoint_id: 'we_01K9YQ3S2M6W5VJ8T4R7N0ZBCD',
      external_check_id: 'lunch',
      status: 'delivered',
      next_attempt_at: null,
      dead_reason: null,
      attempt: {
        number: 1,
        started_at: '2026-11-21T18:04:05.000Z',
        duration_ms: 12,
        outcome: 'succeeded',
        response_status: 204,
        response_body: null,
        error: null,
        ...attempt,
      },
    },
  }
}

const drawn = (told: ReturnType<typeof message>, columns: number, url?: string) =>
  stripVTControlCharacters(renderTailMessage(told, columns, undefined, url)).split('\n')

describe('a line of tail', () => {
  const url = 'http://localhost:4411/webhooks?key=1'

  test('ends with the endpoint when its URL is known', () => {
    const line = `✓ 18:04:05  check.created  lunch  204  12 ms  ${id}`
    expect(drawn(message(), Infinity)).toEqual([line])
    expect(drawn(message(), Infinity, url)).toEqual([`${line}  → :4411/webhooks`])
  })

  test('has the endpoint on a second line when the terminal is narrow', () => {
    expect(drawn(message(), 60, url)).toEqual([
      '✓ 18:04:05  check.created      lunch     204      12 ms',
      '    → :4411/webhooks',
    ])
    expect(drawn(message(), 90, url)).toEqual([
      '✓ 18:04:05  check.created      lunch                     204      12 ms  → :4411/webhooks',
    ])
  })

  test('keeps both ends of a long name', () => {
    const told = message()
    told.data.external_check_id = '6f1d4c1a-0a7e-4f6b-8a55-2f3c9e7b1d01'
    expect(drawn(told, 80)).toEqual(['✓ 18:04:05  check.created      6f1d4c1a…c9e7b1d01  204      12 ms'])
  })

  test('is followed by one line of a failed response', () => {
    const failed = message({
      outcome: 'bad_status',
      response_status: 500,
      response_body: `{\n  "error": "${'no such table '.repeat(20)}"\n}`,
      error: 'The receiver returned 500.',
    })
    const lines = drawn(failed, 60, url)
    expect(lines.at(-1)).toBe('    response: { "error": "no such table no such table no su…')
    expect(lines.filter((line) => line.includes('response:'))).toHaveLength(1)
    expect(drawn(message({ response_body: 'thanks' }), 60)).toHaveLength(1)
  })
})

test.each([
  ['http://127.0.0.1:4411/', ':4411'],
  ['https://localhost:8443/webhooks', ':8443/webhooks'],
  ['https://pos.example.com/hooks/tabwire?token=1', 'pos.example.com/hooks/tabwire'],
  ['http://localhost/hooks', 'localhost/hooks'],
  ['http://localhost:3000/hooks', ':3000/hooks'],
  ['http://[::1]:3000/', ':3000'],
  ['https://localhost/hooks', 'localhost/hooks'],
  ['https://pos.example:8443/hooks?a=1', 'pos.example:8443/hooks'],
  ['nowhere', 'nowhere'],
  ['no URL', 'no URL'],
])('%s is shortened to %s', (url, short) => {
  expect(shortUrl(url)).toBe(short)
})

test.each([20, 40, 60, 80, 200])('the bar of listen fits a terminal of %i columns', (columns) => {
  const last = { id, event_type: 'payment.succeeded', external_check_id: 'a-long-external-id' } as const
  for (const delivery of [undefined, last]) {
    const bar = renderListenStatus({ forwarded: 12, failed: 3, last: delivery }, columns)
    expect(stripVTControlCharacters(bar).length).toBeLessThanOrEqual(columns)
    expect(stripVTControlCharacters(bar)).toContain('LISTENING')
  }
})

test('listen shows the text of a page, and another body line by line', () => {
  const shown = (response_body: string) =>
    renderForwarded(message({ outcome: 'bad_status', response_status: 403, response_body }).data, undefined)
  const page =
    '<!DOCTYPE html>\n<html><head><style>\nh1 {}\n</style></head>\n<h1>Forbidden</h1>\n<p>CSRF failed.</p>'
  expect(stripVTControlCharacters(shown(page))).toMatch(/\n {4}│ Forbidden CSRF failed\.$/)
  expect(stripVTControlCharacters(shown('one\ntwo'))).toMatch(/\n {4}│ one\n {4}│ two$/)
})
