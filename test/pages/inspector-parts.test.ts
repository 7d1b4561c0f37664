import { describe, expect, it } from 'vitest'
import type { Delivery } from '../../src/model/delivery.ts'
import type { LoggedRequest } from '../../src/model/simulator/request-entry.ts'
import { deliveryCurl, requestCurl, verifyCommand } from '../../src/pages/browser/inspector/commands.ts'
import { missingIn, newestFirst, withFirst, withNext } from '../../src/pages/browser/inspector/merge.ts'
import { countdownText, momentText, tookText } from '../../src/pages/browser/inspector/time-text.ts'
import { timelineOf } from '../../src/pages/browser/inspector/timeline.ts'

const rows = (...ids: string[]) => ids.map((id) => ({ id }))

describe('a list of pages', () => {
  const newest = { end: 'newest', rows: rows('d', 'c', 'b', 'a'), cursor: 'after a' } as const
  const oldest = { end: 'oldest', rows: rows('a', 'b', 'c', 'd'), cursor: 'after d' } as const

  it('takes up what is new at its end, and goes on at the other where it was', () => {
    expect(withFirst(newest, { data: rows('f', 'e', 'd'), next_cursor: 'after d' }, 'newest')).toEqual({
      ...newest,
      rows: rows('f', 'e', 'd', 'c', 'b', 'a'),
    })
    expect(withFirst(oldest, { data: rows('b', 'c'), next_cursor: 'after c' }, 'oldest')).toEqual({
      ...oldest,
      rows: rows('b', 'c', 'd'),
    })
  })

  it('begins anew where rows between the page at an end and the rest are missing', () => {
    const page = { data: rows('h', 'g', 'f'), next_cursor: 'after f' }
    const fresh = { end: 'newest', rows: page.data, cursor: 'after f' }
    expect(withFirst(newest, page, 'newest')).toEqual(fresh)
    expect(withFirst(oldest, page, 'newest')).toEqual(fresh)
    expect(withFirst(newest, { data: rows('1', '2'), next_cursor: 'after 2' }, 'oldest')).toEqual({
      end: 'oldest',
      rows: rows('1', '2'),
      cursor: 'after 2',
    })
  })

  it.each([[rows('d')], [rows()]])('is what the page at an end is when that is all: %j', (data) => {
    const whole = { end: 'newest', rows: data, cursor: null }
    for (const end of ['newest', 'oldest'] as const)
      expect(withFirst(newest, { data, next_cursor: null }, end)).toEqual(whole)
  })

  it('is whole, and begins with the newest, when the pages of both ends meet', () => {
    const whole = { end: 'newest', cursor: null }
    expect(withFirst(newest, { data: rows('1', 'a', 'b'), next_cursor: 'after b' }, 'oldest')).toEqual({
      ...whole,
      rows: rows('d', 'c', 'b', 'a', '1'),
    })
    expect(withFirst(oldest, { data: rows('e', 'd'), next_cursor: 'after d' }, 'newest')).toEqual({
      ...whole,
      rows: rows('e', 'd', 'c', 'b', 'a'),
    })
    expect(withNext(oldest, { data: rows('e'), next_cursor: null })).toEqual({
      ...whole,
      rows: rows('e', 'd', 'c', 'b', 'a'),
    })
  })

  it('takes a further page once', () => {
    expect(withNext(newest, { data: rows('a', '9'), next_cursor: 'after 9' })).toEqual({
      ...newest,
      rows: rows('d', 'c', 'b', 'a', '9'),
      cursor: 'after 9',
    })
    expect(withNext(oldest, { data: rows('d', 'e'), next_cursor: 'after e' })).toEqual({
      ...oldest,
      rows: rows('a', 'b', 'c', 'd', 'e'),
      cursor: 'after e',
    })
  })

  it('is shown newest first, with what is missing on one side', () => {
    expect([newestFirst(newest), missingIn(newest)]).toEqual([newest.rows, 'below'])
    expect([newestFirst(oldest), missingIn(oldest)]).toEqual([newest.rows, 'above'])
    expect(missingIn({ ...newest, cursor: null })).toBe('nowhere')
  })
})

describe('a time line', () => {
  it('goes from the push over its events to each attempt and the next, causes first', () => {
    const at = '2026-01-01T00:00:00.000Z'
    const delivery = {
      id: 'dlv_1',
      attempts: [{ number: 1, started_at: at }],
      next_attempt_at: '2026-01-01T00:01:00.000Z',
    } as unknown as Delivery
    const points = timelineOf({
      deliveries: [delivery],
      events: [{ id: 'evt_1', type: 'check.created', created_at: at }],
      requests: [{ id: 'req_1', started_at: at } as LoggedRequest],
    })
    expect(points.map(({ kind }) => kind)).toEqual(['push', 'event', 'attempt', 'next'])
  })
})

describe('a command to copy', () => {
  it('sends the exact body of a delivery, quoted for a shell', () => {
    expect(deliveryCurl('https://localhost/a', `{"name":"Mia's"}`, 'Acme')).toBe(
      `printf %s '{"name":"Mia'\\''s"}' | curl -gsS -X POST 'https://localhost/a' -H 'Content-Type: application/json' -H 'User-Agent: Acme-Webhooks/1.0' -H 'X-Acme-Signature: t=<unix_seconds>,v1=<hex_hmac_sha256>' --data-binary @-`,
    )
  })

  it('holds no key, but the name of the variable that has it', () => {
    const request = { method: 'PUT', path: '/v1/checks/external/a', request_body: '{}' } as LoggedRequest
    expect(requestCurl('http://localhost:1', request)).toBe(
      `printf %s '{}' | curl -gsS -X PUT 'http://localhost:1/v1/checks/external/a' -H 'Content-Type: application/json' -H "Authorization: Bearer $TABWIRE_API_KEY" --data-binary @-`,
    )
    const { path } = request
    expect(
      requestCurl('http://localhost:1', {
        ...request,
        method: 'GET',
        request_body: null,
        path: `${path}?q='`,
      }),
    ).toBe(
      `curl -gsS -X GET 'http://localhost:1/v1/checks/external/a?q=%27' -H "Authorization: Bearer $TABWIRE_API_KEY"`,
    )
  })

  it('verifies a header for a delivery, under the name that the service has', () => {
    expect(verifyCommand('dlv_1', 'Service')).toMatch(/^tabwire verify --secret .* --delivery dlv_1$/)
    expect(verifyCommand('dlv_1', 'Acme')).toMatch(/ --service-name Acme$/)
  })
})

describe('times in words', () => {
  it.each([
    [-5, 'now'],
    [999, 'now'],
    [61_000, '1:01'],
    [3_600_000, '1 h 0 min'],
    [90_000_000, '1 d 1 h'],
  ])('count down from %i ms as %s', (ms, text) => {
    expect(countdownText(ms)).toBe(text)
  })

  it('name the day when it is another one', () => {
    const now = Date.parse('2026-01-02T08:00:00Z')
    expect(momentText('2026-01-02T07:08:09.100Z', now)).toBe('07:08:09')
    expect(momentText('2026-01-01T07:08:09.100Z', now)).toBe('01-01 07:08:09')
  })

  it('are as exact as one can tell', () => {
    expect([0.04, 0.46, 12.4, 999, 1_250].map(tookText)).toEqual([
      '0 ms',
      '0.5 ms',
      '12 ms',
      '999 ms',
      '1.3 s',
    ])
  })
})
