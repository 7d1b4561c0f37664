import type { Page } from 'playwright-core'
import { decodeTime } from 'ulid'
import { describe, expect, it } from 'vitest'
import { attemptOutcomes, deliveryWords } from '../../../src/model/delivery.ts'
import { type Envelope, envelopeText } from '../../../src/model/event.ts'
import { pushWords } from '../../../src/model/simulator/request-entry.ts'
import { createdAt } from '../../../src/model/text/time.ts'
import { signs, toneOf, toneOfCode } from '../../../src/pages/browser/inspector/tones.ts'
import { barriersInSoak } from '../../support/barriers.ts'
import { isSoak } from '../../soak/seeded.ts'
import { hasBrowser, inBrowser } from '../../support/browser.ts'
import { deadUrl, item, openReceiver, openSimulator } from '../../support/simulator.ts'
import { barriersAtAllSizes, openInspector } from './open-inspector.ts'

const withTimeout = { timeout: 30_000 }
const event_types = ['check.created' as const]
const checks = (page: Page) => page.locator('.row .cell:nth-child(3)').allTextContents()
const times = (page: Page) => page.locator('.row time.moment').allTextContents()
const filter = (page: Page, name: string) => page.getByRole('combobox', { name, exact: true })
const outcome = (page: Page) => page.locator('.outcome')

describe('badges and times of lists', () => {
  it('give each status one tone, and a good tone only to a success', () => {
    const tones = (words: readonly string[]) => words.map(toneOf).join(' ')
    expect(tones(deliveryWords)).toBe('wait wait wait good bad')
    expect(tones(attemptOutcomes)).toBe(['good', ...attemptOutcomes.slice(1).map(() => 'bad')].join(' '))
    expect(tones(['paid', 'partially refunded', 'refunded'])).toBe('good wait calm')
    expect(tones(pushWords)).toBe('good good calm wait bad bad bad')
    expect([200, 204, 301, 404, 409, 500].map(toneOfCode).join(' ')).toBe('good good bad bad bad bad')
    expect(new Set(Object.values(signs)).size).toBe(4)
  })

  it('read the creation time from an id', () => {
    const id = '01K9YQ3S2M6W5VJ8T4R7N0ZBCD'
    expect(createdAt(`dlv_${id}`)).toBe(new Date(decodeTime(id)).toISOString())
  })
})

describe.skipIf(!hasBrowser)(`the lists of the inspector ${inBrowser}`, () => {
  it.runIf(isSoak)('show the time that they are sorted by, with dates when days differ', async () => {
    const simulator = await openSimulator({ startAt: new Date('2026-11-21T18:00:00Z') })
    const { client } = simulator
    const receiver = await openReceiver(503)
    await client.endpoints.create({ url: receiver.url, event_types })
    await simulator.push('first')
    await simulator.idle()
    await simulator.push('second')
    await simulator.idle()
    await client.clock.advance('1h')
    const page = await openInspector(simulator)
    // The first delivery was attempted again after the second was created.
    await expect.poll(() => checks(page), withTimeout).toEqual(['second', 'first'])
    expect((await times(page)).every((text) => /^18:00:\d\d$/.test(text))).toBe(true)
    const ids = (await client.deliveries.list()).data.map(({ id }) => createdAt(id))
    expect(await page.locator('.row time.moment').first().getAttribute('datetime')).toBe(ids[0])
    await client.clock.advance('24h')
    await expect.poll(async () => (await times(page))[0], withTimeout).toMatch(/^11-21 18:00:\d\d$/)
    for (const view of ['checks', 'events', 'requests', 'pushes', 'endpoints']) {
      await page.goto(`${simulator.url}/?view=${view}`)
      await expect.poll(async () => (await times(page))[0], withTimeout).toMatch(/^11-21 18:00:\d\d$/)
      const shown = await page
        .locator('.row .cell:first-child time.moment')
        .evaluateAll((all) => all.map((time) => time.getAttribute('datetime') ?? ''))
      expect([view, ...shown]).toEqual([view, ...shown.toSorted().reverse()])
    }
  })

  it.runIf(isSoak)('filter by status, outcome, endpoint and time, in the words of the badges', async () => {
    const simulator = await openSimulator({ startAt: new Date('2026-11-21T18:00:00Z'), disableAfter: 0 })
    const { client } = simulator
    const receiver = await openReceiver()
    const good = await client.endpoints.create({ url: receiver.url, event_types })
    await simulator.push('a')
    await simulator.idle()
    await client.clock.advance('2h')
    const bad = await client.endpoints.create({ url: deadUrl, event_types })
    await simulator.push('b')
    await simulator.idle()
    const page = await openInspector(simulator)
    const rows = async () => {
      const texts = await page.locator('.row').allInnerTexts()
      return texts.map((text) =>
        [/\n([ab])\n/.exec(text)?.[1], /delivered|retrying|dead/.exec(text)?.[0]].join(' '),
      )
    }
    await expect.poll(rows, withTimeout).toEqual(['b retrying', 'b delivered', 'a delivered'])
    const words = await filter(page, 'Status').locator('option').allTextContents()
    expect(words).toEqual(['Any status', 'pending, retrying, held', 'retrying', 'held', 'delivered', 'dead'])
    await filter(page, 'Status').selectOption('retrying')
    await expect.poll(rows, withTimeout).toEqual(['b retrying'])
    await filter(page, 'Status').selectOption('')
    await filter(page, 'Outcome').selectOption('succeeded')
    await expect.poll(rows, withTimeout).toEqual(['b delivered', 'a delivered'])
    await filter(page, 'Outcome').selectOption('')
    await filter(page, 'Endpoint').selectOption(bad.id)
    await expect.poll(rows, withTimeout).toEqual(['b retrying'])
    await filter(page, 'Endpoint').selectOption({ label: receiver.url.replace('https://', '') })
    await expect.poll(rows, withTimeout).toEqual(['b delivered', 'a delivered'])
    const time = page.locator('.time-filter')
    await time.locator('summary').click()
    expect(await barriersAtAllSizes(page)).toEqual([])
    await page.setViewportSize({ width: 1280, height: 800 })
    await page
      .locator('h1, header')
      .first()
      .click({ position: { x: 2, y: 2 } })
    await expect.poll(() => time.getAttribute('open'), withTimeout).toBeNull()
    await time.locator('summary').click()
    await time.getByRole('button', { name: 'Last hour' }).click()
    await expect.poll(rows, withTimeout).toEqual(['b delivered'])
    await page.locator('.time-filter summary:focus').waitFor()
    await page.keyboard.press('Enter')
    await time.getByLabel('From (UTC)').fill('2026-11-21T17:59:00')
    await time.getByLabel('Before (UTC)').fill('2026-11-21T19:00:00')
    await expect.poll(rows, withTimeout).toEqual(['a delivered'])
    await time.getByLabel('Before (UTC)').press('Escape')
    await page.getByText('11-21 17:59:00 to 19:00:00', { exact: true }).waitFor()
    const { searchParams } = new URL(page.url())
    expect(Object.fromEntries(searchParams)).toEqual({
      view: 'deliveries',
      endpoint_id: good.id,
      from: '2026-11-21T17:59:00.000Z',
      to: '2026-11-21T19:00:00.000Z',
    })
    await page.goto(`${simulator.url}/?view=pushes&outcome=created&from=2026-11-21T19:00:00Z`)
    await expect.poll(() => page.locator('.row b').allTextContents(), withTimeout).toEqual(['b'])
    await page.goto(`${simulator.url}/?view=events&to=2026-11-21T19:00:00Z`)
    await expect.poll(() => page.locator('.row').count(), withTimeout).toBe(1)

    // A narrow screen shows the filters on demand.
    const phone = await openInspector(simulator, { viewport: { width: 360, height: 740 } })
    await phone.goto(`${simulator.url}/?view=deliveries&status=dead`)
    await phone.getByText('No results').waitFor()
    expect(await filter(phone, 'Status').isVisible()).toBe(false)
    await phone.getByRole('button', { name: 'Filters (1)' }).click()
    await filter(phone, 'Status').selectOption('delivered')
    await expect.poll(() => phone.locator('.row').count(), withTimeout).toBe(2)
    expect(await barriersInSoak(phone)).toEqual([])
  })

  it('have two lines per row on a phone, and keep numbers in one line, with long texts', async () => {
    const { client, idle, inspectorLink, push, url } = await openSimulator()
    const receiver = await openReceiver()
    await client.endpoints.create({ url: receiver.url, event_types })
    const id = '550e8400-e29b-41d4-a716-446655440000'.repeat(3)
    const name = 'Slow-roasted Heirloom Tomatoes with Burrata, Basil and a Rather Long Description'
    await push(id, { table: { number: 'Terrace '.repeat(6) }, items: [item('a', { name, quantity: 120 })] })
    await idle()
    const page = await openInspector({ inspectorLink }, { viewport: { width: 360, height: 740 } })
    for (const view of ['checks', 'events', 'deliveries']) {
      await page.goto(`${url}/?view=${view}`)
      const cells = page.locator('.row .cell')
      await cells.first().waitFor()
      const centers = await cells.evaluateAll((all) =>
        all
          .filter((cell) => cell.checkVisibility() && cell.textContent !== '')
          .map((cell) => cell.getBoundingClientRect())
          .map(({ top, bottom }) => Math.round((top + bottom) / 2 / 8)),
      )
      expect([view, new Set(centers).size]).toEqual([view, 2])
    }
    await page.goto(`${url}/?view=checks&open=${encodeURIComponent(`check/${id}`)}`)
    const numbers = page.locator('.items td:not(:first-child)')
    await numbers.first().waitFor()
    const heights = await numbers.evaluateAll((all) =>
      all.map((cell) => {
        const range = document.createRange()
        range.selectNodeContents(cell)
        return range.getClientRects().length
      }),
    )
    expect(heights).toEqual([1, 1, 1, 1])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
  })

  it('resend all dead deliveries that match, after a question, with progress and reasons', async () => {
    const simulator = await openSimulator({ disableAfter: 2 })
    const { client } = simulator
    const types = ['check.created', 'check.closed'] as const
    const receiver = await openReceiver(500)
    const other = await openReceiver([500, 200])
    await client.endpoints.create({ url: other.url, event_types: ['check.closed'] })
    await client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
    for (let number = 0; number < 3; number++) await simulator.push(`gone-${number}`)
    await simulator.idle()
    expect((await client.endpoints.list({ limit: 1 })).data).toMatchObject([{ status: 'disabled' }])
    // More dead deliveries than a page of the list has, to an endpoint that is enabled.
    const state = await client.state.get()
    const [sample] = state.deliveries.filter(({ attempts }) => attempts.length > 0)
    const [event] = state.events.filter(({ id }) => id === sample?.event_id)
    const [enabled] = state.endpoints.filter(({ status }) => status === 'enabled')
    if (sample === undefined || event === undefined || enabled === undefined) throw new Error('no sample')
    const at = (prefix: string, number: number) => `${prefix}_${String(number).padStart(26, '0')}`
    const numbers = Array.from({ length: 120 }, (_, number) => number)
    const eventOf = (number: number) => {
      const copy = { ...event, id: at('evt', number), type: types[1] }
      return { ...copy, body: envelopeText(copy, JSON.stringify((JSON.parse(event.body) as Envelope).data)) }
    }
    await client.state.put(
      JSON.stringify({
        ...state,
        events: [...numbers.map(eventOf), ...state.events],
        deliveries: [
          ...numbers.map((number) => ({
            ...sample,
            id: at('dlv', number),
            event_id: at('evt', number),
            event_type: types[1],
            endpoint_id: enabled.id,
          })),
          ...state.deliveries,
        ],
      }),
    )
    other.answer(200)
    const page = await openInspector(simulator)
    await page.locator('.row').first().waitFor()
    const resendAll = page.getByRole('button', { name: 'Resend all…' })
    expect(await resendAll.count()).toBe(0)
    await filter(page, 'Status').selectOption('dead')
    await resendAll.click()
    const dialog = page.getByRole('dialog', { name: 'Resend the dead deliveries that match the filters?' })
    await dialog.getByText('120 deliveries are resent with new signatures').waitFor()
    await dialog.getByText('3 skipped: endpoint disabled.').waitFor()
    expect(await barriersAtAllSizes(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(other.requests).toEqual([])
    await page.setViewportSize({ width: 1280, height: 800 })
    await resendAll.click()
    await dialog.getByRole('button', { name: 'Resend 120' }).click()
    await dialog.getByText('Resent 120 of 120.').waitFor()
    expect(await dialog.getByRole('progressbar').getAttribute('value')).toBe('120')
    expect(await barriersAtAllSizes(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Close' }).click()
    await other.received(120)
    await simulator.idle()
    // The same question again: each event has been delivered meanwhile.
    await page.setViewportSize({ width: 1280, height: 800 })
    await resendAll.click()
    await dialog.getByText('No delivery can be resent.').waitFor()
    await dialog.getByText('120 skipped: another delivery of the event was delivered').waitFor()
  })

  it.runIf(isSoak)(
    'hide messages of success after five seconds, unless they are focused, and keep errors',
    async () => {
      const simulator = await openSimulator()
      const { client } = simulator
      const receiver = await openReceiver()
      const { id } = await client.endpoints.create({ url: receiver.url, event_types })
      const page = await openInspector(simulator)
      await page.goto(`${simulator.url}/?view=endpoints&open=${id}`)
      const ping = page.getByRole('button', { name: 'Ping', exact: true })
      await ping.waitFor()
      await page.clock.install()
      await ping.click()
      await outcome(page).getByText('Ping delivered').waitFor()
      expect(await page.locator('[role="status"] .outcome').count()).toBe(1)
      await outcome(page).hover()
      await page.clock.runFor(60_000)
      expect(await outcome(page).count()).toBe(1)
      await page.mouse.move(0, 0)
      await outcome(page).getByRole('button', { name: 'Dismiss' }).focus()
      await page.clock.runFor(60_000)
      expect(await outcome(page).count()).toBe(1)
      await ping.focus()
      await page.clock.runFor(6_000)
      await expect.poll(() => outcome(page).count(), withTimeout).toBe(0)
      receiver.answer(500)
      await ping.click()
      await page.locator('[role="alert"] .outcome', { hasText: 'Ping failed' }).waitFor()
      await page.clock.runFor(60_000)
      expect(await outcome(page).count()).toBe(1)
      await outcome(page).getByRole('button', { name: 'Dismiss' }).click()
      await expect.poll(() => outcome(page).count(), withTimeout).toBe(0)
    },
  )
})
