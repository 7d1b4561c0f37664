import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { eventTypes } from '../../../src/model/event.ts'
import { check, item, openReceiver, type TestSimulator, totals } from '../../support/simulator.ts'

/** Widths of a small phone, a phone, a tablet, a small laptop and a screen. */
export const widths = [360, 390, 768, 1024, 1440] as const

/** A state of the inspector: an address, and what to do there. */
export interface State {
  name: string
  /** Path and query. */
  address: string
  /** A text that shows that the state has loaded. */
  text: string | RegExp
  prepare?: (page: Page) => Promise<void>
  /** Leaves the state, so that the next one starts as the page does. */
  leave?: (page: Page) => Promise<void>
}

const longName = 'Slow-roasted Heirloom Tomatoes with Burrata, Basil and a Rather Long Description'

/** Fills a service with records of every kind, and returns the states of the inspector that show them. */
export async function createStates({ client, call, push, idle }: TestSimulator): Promise<State[]> {
  const good = await openReceiver()
  const bad = await openReceiver((response) => response.writeHead(503).end('{"error":"out of order"}'))
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  const hanging = await openReceiver((response) => void released.then(() => response.end()))
  await client.endpoints.create({ url: `${good.url}webhooks`, event_types: [...eventTypes] })
  const failing = await client.endpoints.create({
    url: `${bad.url}loyalty/integration/with/a/long/path/that/does/not/fit/into/a/column`,
    event_types: ['check.created', 'payment.succeeded'],
  })
  await client.clock.advance('26h')
  const items = [
    item('cornbread', { name: longName, price_cents: 1_000, quantity: 2, note: 'no butter' }),
    item('lemonade', { name: 'House Lemonade', price_cents: 450, quantity: 1 }),
  ]
  await push('table-12-dinner', { items, totals: totals(2_450) })
  await client.guests.claim('table-12-dinner', {
    guest_name: 'Anna',
    items: [{ external_id: 'cornbread', quantity: 1 }],
  })
  const paid = await client.guests.pay('table-12-dinner', {
    guest_name: 'Ben',
    amount_cents: 500,
    tip_cents: 100,
  })
  await client.guests.refund(paid.id, { amount_cents: 200 })
  await client.guests.rate('table-12-dinner', { guest_name: 'Anna', rating: 4, comment: 'Lovely evening' })
  await push('table-7', { totals: totals(1) })
  await call('PUT /v1/checks/external/broken', { json: { ...check(), status: 'lost' } })
  await idle()
  await client.clock.advance('7m')
  await client.faults.set({ faults: [{ on: 'api', error_rate: 0.5 }] })
  const [delivery] = (await client.deliveries.list({ endpoint_id: failing.id })).data
  const [event] = (await client.events.list()).data
  const [refused] = (await client.requests.list({ failed: true })).data
  expect([delivery, event, refused]).not.toContain(undefined)
  const closeDialog = async (page: Page) => {
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
  }
  return [
    { name: 'deliveries', address: '/?view=deliveries', text: 'Attempts of' },
    { name: 'delivery', address: `/?view=deliveries&open=${delivery?.id}`, text: 'Resend verbatim' },
    { name: 'checks', address: '/?view=checks', text: 'table-12-dinner' },
    {
      name: 'check',
      address: `/?view=checks&open=${encodeURIComponent('check/table-12-dinner')}`,
      text: 'Open guest page',
      prepare: (page) => page.getByRole('button', { name: 'Refund' }).waitFor(),
    },
    {
      name: 'guest',
      address: `/?view=checks&open=${encodeURIComponent('check/table-12-dinner')}`,
      text: 'Open guest page',
      prepare: (page) => page.getByRole('button', { name: 'Act as a guest' }).click(),
    },
    {
      name: 'race',
      address: `/?view=checks&open=${encodeURIComponent('check/table-7')}`,
      text: 'Open guest page',
      prepare: async (page) => {
        await page.getByRole('button', { name: 'Act as a guest' }).click()
        await page.getByRole('button', { name: 'Race two guests' }).click()
        await page.getByRole('list', { name: 'Responses' }).getByText('409').waitFor()
      },
    },
    { name: 'pushes', address: '/?view=pushes', text: 'totals_mismatch' },
    { name: 'push', address: `/?view=pushes&open=${refused?.id}`, text: 'Copy as curl' },
    { name: 'events', address: '/?view=events', text: 'feedback.received' },
    { name: 'event', address: `/?view=events&open=${event?.id}`, text: 'Copy body' },
    { name: 'endpoints', address: '/?view=endpoints', text: 'healthy' },
    { name: 'endpoint', address: `/?view=endpoints&open=${failing.id}`, text: 'of the last' },
    {
      name: 'endpoint-form',
      address: '/?view=endpoints',
      text: 'healthy',
      prepare: (page) => page.getByRole('button', { name: 'Register endpoint' }).click(),
      leave: closeDialog,
    },
    {
      name: 'endpoint-delete',
      address: `/?view=endpoints&open=${failing.id}`,
      text: 'of the last',
      prepare: (page) => page.getByRole('button', { name: 'Delete…' }).click(),
      leave: closeDialog,
    },
    { name: 'requests', address: '/?view=requests', text: 'PUT' },
    { name: 'controls', address: '/?view=controls', text: /attempt . of 7/ },
    {
      name: 'help',
      address: '/?view=controls',
      text: /attempt . of 7/,
      prepare: (page) => page.keyboard.press('?'),
      leave: closeDialog,
    },
    {
      name: 'endpoint-problem',
      address: '/?view=endpoints',
      text: 'healthy',
      prepare: async (page) => {
        await register(page, 'ftp://localhost/webhooks')
        await page.getByRole('alert').filter({ hasText: 'ftp' }).waitFor()
      },
      leave: closeDialog,
    },
    {
      name: 'endpoint-secret',
      address: '/?view=endpoints',
      text: 'healthy',
      prepare: async (page) => {
        await register(page, `${good.url}${'long-path/'.repeat(20)}`)
        await page.getByRole('button', { name: 'Copy secret' }).waitFor()
      },
      // The dialog then opens the endpoint.
      leave: async (page) => {
        await closeDialog(page)
        await page.getByRole('button', { name: 'Ping' }).waitFor()
      },
    },
    {
      name: 'filters',
      address: '/?view=deliveries&status=dead',
      text: 'Clear filters',
      prepare: async (page) => {
        await page.setViewportSize({ width: 360, height: 900 })
        await page.getByRole('button', { name: 'Filters (1)' }).click()
        await page.locator('summary').click()
      },
    },
    {
      name: 'resend-all',
      address: '/?view=deliveries&status=dead',
      text: 'Clear filters',
      prepare: async (page) => {
        await page.getByRole('button', { name: 'Resend all' }).click()
        await page.getByText('No delivery can be resent.').waitFor()
      },
      leave: closeDialog,
    },
    { name: 'no-results', address: '/?view=checks&q=nothing', text: 'Clear filters' },
    {
      name: 'playing',
      address: '/?view=controls',
      text: 'Faults',
      prepare: async (page) => {
        await call('POST /_sim/webhook-endpoints', {
          json: { url: hanging.url, event_types: ['check.created'] },
        })
        await call('PUT /_sim/checks/table-3', { json: check() })
        await page.getByRole('button', { name: '+1m', exact: true }).click()
        await page.getByText('waiting for').waitFor()
      },
      leave: async (page) => {
        release()
        await page.getByText('Playing').waitFor({ state: 'hidden' })
      },
    },
  ]
}

/** Fills and sends the registration dialog. */
async function register(page: Page, url: string): Promise<void> {
  await page.getByRole('button', { name: 'Register endpoint' }).click()
  await page.getByRole('textbox', { name: 'URL' }).fill(url)
  await page.getByRole('button', { name: 'Register', exact: true }).click()
}

/** Shows a state in a page that has a session, without loading the page again. */
export async function show(page: Page, { address, text, prepare }: State): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent('popstate'))`,
  )
  await page.getByText(text).filter({ visible: true }).first().waitFor()
  await prepare?.(page)
}
