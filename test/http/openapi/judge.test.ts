import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { PublishedAnswer } from '../../../src/http/app.ts'
import { fixtures } from '../../support/cli.ts'
import { expectDocumentedAnswers } from '../../support/judged-answers.ts'
import { createJudge, type OpenApi } from '../../support/openapi-judge.ts'
import { issuesOf, schemasOf } from '../../support/openapi-schemas.ts'
import { openSimulator } from '../../support/simulator.ts'

const document = JSON.parse(readFileSync(`${fixtures}openapi.json`, 'utf8')) as OpenApi
const judge = createJudge(document)
const example = (name: string) => document.components.examples[name]?.value as object
const check = example('Check') as { totals: object }
const path = '/v1/checks/external/a?x=1'
const headers = {
  'x-request-id': 'req_01M7X1Z0MT10Y4ZNDA98NYCYH6',
  'content-type': 'application/json; charset=utf-8',
}

const text = (value: unknown) => JSON.stringify(value)
const error = (code: string, more = {}) => text({ error: { code, message: 'A.', request_id: 'b', ...more } })
const right: PublishedAnswer = {
  request: { method: 'GET', path, body: null },
  status: 200,
  headers,
  body: text(check),
}
const page = { method: 'GET', path: '/t/1/x', body: null }
const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}
const put = { method: 'PUT', path, body: text(example('CheckPush.just-seated')) }

describe('the check of every response against the OpenAPI document', () => {
  it.each<[string, Partial<PublishedAnswer>]>([
    ['an answer', {}],
    ['a push', { request: put, status: 201 }],
    ['an error', { status: 404, body: error('not_found') }],
    ['an answer to HEAD', { request: { method: 'HEAD', path, body: null } }],
    [
      'a method that there is not',
      {
        request: { ...put, method: 'PATCH' },
        status: 405,
        body: error('method_not_allowed', { allow: 'GET' }),
      },
    ],
    ['an error on purpose', { status: 418, body: error('fault_injected') }],
    ['the page of a table', { request: page, headers: { ...headers, ...pageHeaders }, body: '<html>' }],
    [
      'the page of no table',
      {
        request: { ...page, path: '/t/1' },
        status: 404,
        headers: { ...headers, ...pageHeaders },
        body: '<html>',
      },
    ],
    ['a page that it leaves out', { request: { ...page, path: '/docs' }, body: '<html>' }],
    ['what the parser refuses', { request: null, status: 431, body: error('headers_too_large') }],
  ])('accepts %s', (_what, changes) => {
    expect(judge({ ...right, ...changes })).toEqual([])
  })

  it.each<[string, Partial<PublishedAnswer>, string]>([
    [
      'a field that is missing',
      { body: text({ ...check, revision: undefined }) },
      "required property 'revision'",
    ],
    ['a field that is new', { body: text({ ...check, extra: 1 }) }, 'additionalProperty":"extra"'],
    [
      'a field of a nested object that is new',
      { body: text({ ...check, table: { number: '1', extra: 1 } }) },
      'at /table',
    ],
    ['a value of another type', { body: text({ ...check, paid_cents: '0' }) }, 'at /paid_cents'],
    ['a time that is none', { body: text({ ...check, created_at: 'now' }) }, 'at /created_at'],
    ['a status that is not documented', { status: 202 }, 'status'],
    ['an error of another status', { status: 403, body: error('not_found') }, 'at /error'],
    [
      'an error of an unknown code',
      { request: { ...put, method: 'PATCH' }, status: 418, body: error('teapot') },
      'teapot',
    ],
    ['no X-Request-Id', { headers: {} }, 'X-Request-Id'],
    ['no WWW-Authenticate', { status: 401, body: error('unauthorized') }, 'WWW-Authenticate'],
    [
      'a wrong WWW-Authenticate',
      { status: 401, body: error('unauthorized'), headers: { ...headers, 'www-authenticate': 'Basic' } },
      'Basic',
    ],
    ['another type', { headers: { ...headers, 'content-type': 'text/html' } }, 'type'],
    [
      'a page with JSON in its place',
      { request: page, headers: { ...headers, ...pageHeaders, 'content-type': headers['content-type'] } },
      'type text/html',
    ],
    ['what a guest may keep in a cache', { request: { ...page, path: '/t/1/x/state' } }, 'Cache-Control'],
    [
      'what a guest sees with a field that is new',
      {
        request: { ...page, path: '/t/1/x/state' },
        headers: { ...headers, ...pageHeaders, 'content-type': headers['content-type'] },
        body: text({ ...example('TableView'), extra: 1 }),
      },
      'additionalProperty":"extra"',
    ],
    [
      'a route that is not documented',
      { request: { method: 'GET', path: '/v1/other', body: null } },
      'not documented',
    ],
    [
      'a request that it should not have accepted',
      { request: { ...put, body: '{"status":"open"}' } },
      "required property 'table'",
    ],
  ])('refuses %s', (_what, changes, issue) => {
    expect(judge({ ...right, ...changes }).join('\n')).toContain(issue)
  })

  it.each<[string, string, object]>([
    ['an event type twice', 'WebhookEndpointRegistration', { event_types: ['check.closed', 'check.closed'] }],
    ['a claim twice', 'PaymentRequest', { claim_ids: ['clm_1', 'clm_1'] }],
    ['a scope twice', 'KeyRequest', { scopes: ['read', 'read'] }],
    ['an amount beyond the exact integers', 'RefundRequest', { amount_cents: 2 ** 53 }],
    ['totals beyond them', 'CheckPush', { totals: { ...check.totals, tax_cents: -(2 ** 53) } }],
    ['a word for a duration', 'ClockMove', { advance: 'soon' }],
    ['no duration', 'ClockMove', { advance: '' }],
  ])('has a schema of requests that refuses %s', (_what, name, changes) => {
    const validate = schemasOf(document)(`/components/schemas/${name}`)
    const [right = {}] = Object.entries(document.components.examples).flatMap(([key, { value }]) =>
      key.split('.')[0] === name ? [value as object] : [],
    )
    expect(issuesOf(validate, text(right))).toEqual([])
    expect(issuesOf(validate, text({ ...right, ...changes }))).not.toEqual([])
  })

  it('sees every response, and fails a test that received an undocumented one', async () => {
    const heard: PublishedAnswer[] = []
    const hear = (answer: unknown) => void heard.push(answer as PublishedAnswer)
    subscribe('tabwire:answer', hear)
    onTestFinished(() => void unsubscribe('tabwire:answer', hear))
    const { call, raw } = await openSimulator()
    const [malformed, refused] = [await call('GET /v1/checks?limit=none'), await raw('no HTTP\r\n\r\n')]
    const ids = [malformed, refused].map((answer) => answer.headers.get('x-request-id'))
    expect(heard.map((answer) => new Headers(answer.headers).get('x-request-id'))).toEqual(ids)
    expectDocumentedAnswers()
    channel('tabwire:answer').publish({ ...right, status: 202 })
    expect(expectDocumentedAnswers).toThrow(
      'GET /v1/checks/external/a?x=1 202 has a status that is not documented',
    )
  })
})
