import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import chalk from 'chalk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeFailure } from '../../src/cli/errors.ts'
import { renderAttempt, renderForwarded } from '../../src/cli/render/attempt.ts'
import { renderCheck, renderChecks } from '../../src/cli/render/check.ts'
import { renderDeliveries, renderDelivery, renderMet, renderResent } from '../../src/cli/render/delivery.ts'
import {
  renderEndpoint,
  renderEndpoints,
  renderEvent,
  renderEvents,
  renderKey,
  renderKeys,
  renderPing,
} from '../../src/cli/render/resources.ts'
import { renderError, renderBug, renderReady, renderWarning } from '../../src/cli/render/messages.ts'
import { renderFaults, renderSavedStates } from '../../src/cli/render/controls.ts'
import { renderClaim, renderFeedback, renderPayment } from '../../src/cli/render/guests.ts'
import { renderPush } from '../../src/cli/render/push.ts'
import { renderReport } from '../../src/cli/render/report.ts'
import { renderListenStatus, renderRequest, renderTailMessage } from '../../src/cli/render/tail.ts'
import { renderTable, renderFields } from '../../src/cli/render/layout.ts'
import { harmless, jsonText, printable } from '../../src/cli/render/text.ts'
import { ApiError } from '../../src/client.ts'
import { bin, checkBody, emptyDirectory, spawnProcess, startService, tabwire } from '../support/cli.ts'
import { hasTerminals, onTerminal, tabwireOnTerminal } from '../support/terminal.ts'
import { check, item, openReceiver, openSimulator, totals } from '../support/simulator.ts'
import { openHttpServer } from '../support/http-server.ts'

/** Hides, moves, clears, renames the window, turns round, begins a line of its own, and draws in the second charset. */
const hostile = '\u001b[8mx\u001b[2J\u001b]0;t\u0007\u009b31m\u202ey\r\u0008\u2066\u000e\u007f\nFORGED line'

/** Returns a resource with hostile characters appended to every text but times, which are parsed. */
function poisoned<T>(value: T): T {
  if (typeof value === 'string') return (/^\d{4}-\d\d-\d\dT/.test(value) ? value : `${value}${hostile}`) as T
  if (Array.isArray(value)) return value.map(poisoned) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, poisoned(one)])) as T
}

/** Returns the characters of a text, except colours and line breaks, that steer a terminal. */
function steering(text: string): string[] {
  const withoutColours = text.replace(/\u001b\[(?:[0-79]|22|[349]\d|10\d)m/g, '')
  return withoutColours.match(/(?!\n)[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu) ?? []
}

const level = chalk.level
beforeAll(() => void (chalk.level = 1))
afterAll(() => void (chalk.level = level))

/** One of each resource, as a service with a refusing receiver has them. */
async function resources() {
  const simulator = await openSimulator()
  const { client } = simulator
  const receiver = await openReceiver((response) => response.writeHead(500).end('broken'))
  const endpoint = await client.endpoints.create({
    url: receiver.url,
    event_types: ['check.created', 'claim.created'],
  })
  const items = [item('burger', { name: 'Burger', quantity: 2, price_cents: 1000, note: 'no onions' })]
  const pushed = await client.checks.push('a', JSON.stringify(check({ items, totals: totals(1900) })))
  const claim = await client.guests.claim('a', {
    guest_name: 'Mia',
    items: [{ external_id: 'burger', quantity: 1 }],
  })
  const paid = await client.guests.pay('a', { claim_ids: [claim.id] })
  const feedback = await client.guests.rate('a', { guest_name: 'Mia', rating: 4, comment: 'Nice' })
  await simulator.idle()
  const [deliveries, events] = [(await client.deliveries.list()).data, (await client.events.list()).data]
  const [requests, keys] = [(await client.requests.list()).data, (await client.keys.list()).data]
  const [report, shown] = [await client.report(), await client.checks.get('a')]
  const faults = await client.faults.set({ faults: [{ on: 'api', error_rate: 0.5 }] })
  return {
    ...{ pushed, claim, paid, feedback, deliveries, events, requests, keys, faults, endpoint },
    report,
    shown,
  }
}

describe('text from a service, a POS, a guest or a receiver', () => {
  test('is printed as visible text on its own line, and does not control the terminal', async () => {
    const all = poisoned(await resources())
    const { deliveries, events, requests, shown } = all
    const [delivery, event, request] = [deliveries[0], events[0], requests[0]]
    if (delivery === undefined || event === undefined || request === undefined) return expect.fail('is empty')
    const { attempts: _attempts, ...message } = delivery
    const attempt = {
      ...message,
      attempt: {
        number: 1,
        started_at: '2026-11-21T18:00:00.000Z',
        duration_ms: 3,
        outcome: 'bad_status' as const,
        response_status: 500,
        response_body: `broken${hostile}`,
        error: `refused${hostile}`,
      },
    }
    const push = {
      outcome: `created${hostile}`,
      findings: [{ code: `x${hostile}`, message: hostile }],
      diff: null,
    }
    const rendered: Record<string, string> = {
      attempt: renderAttempt(attempt),
      wideAttempt: renderAttempt(attempt, 200),
      told: renderTailMessage({ type: 'attempt', data: attempt }, 200),
      request: renderTailMessage({ type: 'request', data: request }, 200),
      plainRequest: renderRequest(request),
      check: renderCheck(shown),
      checks: renderChecks([shown], 100),
      deliveries: renderDeliveries(
        deliveries,
        { [deliveries[0]?.endpoint_id ?? '']: `https://a/${hostile}` },
        100,
      ),
      delivery: renderDelivery(delivery, undefined),
      endpoint: renderEndpoint(all.endpoint),
      endpoints: renderEndpoints([all.endpoint]),
      events: renderEvents([event]),
      event: renderEvent(event),
      faults: renderFaults(all.faults),
      claim: renderClaim(all.claim, shown.items, 'USD'),
      payment: renderPayment(all.paid, shown),
      feedback: renderFeedback(all.feedback),
      keys: renderKeys(all.keys),
      key: renderKey(all.keys[0] as never),
      forwarded: renderForwarded(attempt, undefined, 200),
      ping: renderPing({ outcome: hostile, error: hostile, delivery_id: hostile } as never),
      push: renderPush(shown, push as never, 201),
      ready: renderReady({ url: hostile, apiKey: hostile, inspector: hostile }),
      warning: renderWarning(hostile),
      listen: renderListenStatus(
        {
          forwarded: 1,
          failed: 1,
          last: { id: hostile, event_type: 'check.created', external_check_id: hostile },
        },
        200,
      ),
      report: renderReport(all.report),
      met: renderMet(deliveries),
      resent: renderResent(delivery),
      states: renderSavedStates([{ name: hostile, saved_at: '2026-11-21T18:00:00.000Z' } as never]),
      table: renderTable(['a'], [[hostile]], ''),
      fields: renderFields([['a', hostile]]),
      net: harmless(hostile),
    }
    for (const [name, text] of Object.entries(rendered)) expect([name, steering(text)]).toEqual([name, []])
    const ownLines = new Set(['forwarded', 'told', 'request', 'warning', 'net', 'ping'])
    for (const [name, text] of Object.entries(rendered))
      if (!ownLines.has(name)) expect([name, /^FORGED/m.test(text)]).toEqual([name, false])
    expect(rendered.check).toContain('\u241b[8mx')
    expect(rendered.check).toContain('<U+202E>')
  })

  test('is made visible before any renderer of the program gets it', () => {
    // These take finished cells, keys of ours, or make them visible themselves.
    const others = [
      'renderTable',
      'renderFields',
      'renderQr',
      'renderStatus',
      'renderKeyHelp',
      'renderListenStatus',
      'renderNextSteps',
      'renderError',
    ]
    const folder = new URL('../../src/cli/render/', import.meta.url)
    const without = readdirSync(folder).flatMap((file) =>
      [...readFileSync(new URL(file, folder), 'utf8').matchAll(/^export function (render\w*[A-Z]\w*)/gm)].map(
        ([, name]) => name,
      ),
    )
    expect(without.filter((name) => !others.includes(name ?? ''))).toEqual([])
  })

  test('is printed in errors without controlling the terminal', () => {
    const body = {
      code: `x${hostile}`,
      message: `No${hostile}`,
      issues: [{ path: hostile, message: hostile }],
    }
    const failure = describeFailure(new ApiError(422, body, `req_1${hostile}`, '/v1/checks'))
    expect(steering(renderError(failure))).toEqual([])
    expect(steering(renderBug(new Error(hostile)))).toEqual([])
  })

  test('keeps its value in JSON, which does not control the terminal either', () => {
    const text = jsonText({ [hostile]: [hostile] })
    expect(steering(text)).toEqual([])
    expect(JSON.parse(text)).toEqual({ [hostile]: [hostile] })
  })

  test('keeps other scripts, emoji and their joiners', () => {
    for (const text of ['Crème brûlée', 'שלום', '寿司 🍣', '👩‍👩‍👧', 'می‌خواهم'])
      expect(printable(text)).toBe(text)
  })
})

describe('a command that calls a foreign service', () => {
  test('prints the response, which cannot hide or move anything', async () => {
    const error = { code: 'x', message: `Gone${hostile}`, issues: [{ path: hostile, message: hostile }] }
    const { url } = await openHttpServer((request, response) => {
      const isList = request.url?.startsWith('/v1/locations') === true
      const data = [{ id: hostile, name: hostile, timezone: hostile, currency: hostile }]
      response.setHeader('x-request-id', 'req_1')
      response.writeHead(isList ? 200 : 422, { 'content-type': 'application/json' })
      response.end(JSON.stringify(isList ? { data, next_cursor: null } : { error }))
    })
    for (const args of [
      ['locations'],
      ['checks', 'list'],
      ['checks', 'show', 'a'],
      ['locations', '--json'],
    ]) {
      const env = { FORCE_COLOR: '1' }
      const options = { cwd: await emptyDirectory(), env }
      const { ended } = await spawnProcess(
        process.execPath,
        [bin, ...args, '--url', url, '--api-key', 'k'],
        options,
      )
      const { stdout, stderr } = await ended
      expect([args, steering(stdout + stderr)]).toEqual([args, []])
    }
  })

  test.runIf(hasTerminals)(`prints a body byte for byte, but ${onTerminal}`, async () => {
    const service = await startService()
    const number = '\u009b2J\u202eA'
    await service.call('PUT', '/v1/checks/external/a', checkBody({ table: { number } }))
    const [event] = (await service.json<{ data: { id: string; body: string }[] }>('events', 'list')).data
    const args = ['events', 'show', event?.id ?? '', '--body']
    expect((await service.run(args)).stdout).toContain(number)
    const { ended } = await tabwireOnTerminal(args, { cwd: service.cwd })
    const { stdout } = await ended
    expect(stdout).toContain('<U+009B>2J<U+202E>A')
    expect(steering(stdout.replaceAll('\r', ''))).toEqual([])
    await service.stop()
  })

  test('prints an error for a scenario file, which cannot hide or move anything either', async () => {
    const cwd = await emptyDirectory()
    await writeFile(join(cwd, 'evil.json'), JSON.stringify({ [hostile]: hostile }))
    await writeFile(join(cwd, 'broken.json'), hostile)
    for (const file of ['evil.json', 'broken.json']) {
      const { stdout, stderr } = await tabwire(['scenario', 'run', file], { cwd })
      expect(steering(stdout + stderr)).toEqual([])
    }
  })
})
