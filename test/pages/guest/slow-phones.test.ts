import type { Page, Route } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { isSoak } from '../../soak/seeded.ts'
import { hasBrowser, inBrowser } from '../../support/browser.ts'
import { button, dinner, named, openTable, openTouch, receipt, shown, tapRow } from './guest-page-fixtures.ts'

/** The ways to pay, each with the amount that it comes to after Ann claimed the wine, and its cents. */
const ways = [
  ['My items', '$5.50', 550],
  ['Split evenly', '$15.40', 1540],
  ['Pay everything', '$30.80', 3080],
] as const

/** Outside the soak, each test takes another way. */
const waysOf = (index: 0 | 1 | 2) => (isSoak ? ways : [ways[index]])

/** Opens the form, and chooses a way to pay. */
async function choose(page: Page, way: string): Promise<void> {
  await tapRow(page, 'Wine')
  await button(page, 'Pay $5.50').tap()
  await page.getByRole('radio', { name: new RegExp(way) }).tap()
}

/** Lets a request reach the service, and loses its answer. */
async function loseAnswer(route: Route): Promise<void> {
  await route.fetch()
  await route.abort('connectionreset')
}

/** Holds the next payment. The returned function waits for it. */
async function holdPayment(page: Page): Promise<() => Promise<Route>> {
  let hold = (_route: Route) => {}
  const held = new Promise<Route>((resolve) => (hold = resolve))
  await page.route('**/payments', (route) => hold(route), { times: 1 })
  return () => held
}

/** Presses the button of the payment form at once, where Playwright would wait until it stands still. */
const pressPay = (page: Page) => page.evaluate("document.querySelector('.pay .main')?.click()")

describe.skipIf(!hasBrowser)(`slow phones on the guest page ${inBrowser}`, () => {
  it.each(waysOf(0))(
    'show the receipt although the answer was lost: %s',
    async (way, amount, amount_cents) => {
      const { address, client } = await openTable()
      const page = await openTouch(address)
      await choose(page, way)
      await page.route('**/payments', loseAnswer)
      await button(page, `Pay ${amount}`).tap()
      await receipt(page).waitFor()
      expect(await page.getByRole('alert').textContent()).toBe('')
      expect((await client.payments.list()).data).toMatchObject([{ amount_cents }])
    },
  )

  it.each(waysOf(1))('show the receipt while the answer is still on its way: %s', async (way, amount) => {
    const { address, client } = await openTable()
    const page = await openTouch(address)
    await choose(page, way)
    const sent = await holdPayment(page)

    await button(page, `Pay ${amount}`).tap()
    const route = await sent()
    await route.fetch()
    await receipt(page).waitFor()
    await route.abort()
    expect((await client.payments.list()).data).toHaveLength(1)
  })

  it.each(waysOf(2))(
    'pay once when a stalled request arrives after its repeat: %s',
    async (way, amount, amount_cents) => {
      const { address, client } = await openTable()
      const page = await openTouch(address)
      await choose(page, way)
      const held = await holdPayment(page)
      await button(page, `Pay ${amount}`).tap()
      await button(page, 'Paying…').waitFor()
      const stalled = (await held()).request()
      await page.reload()
      await button(page, 'Pay $5.50').tap()
      await page.getByRole('radio', { name: new RegExp(way) }).tap()
      await button(page, `Pay ${amount}`).tap()
      await receipt(page).waitFor()
      const late = await fetch(stalled.url(), {
        method: 'POST',
        headers: await stalled.allHeaders(),
        body: stalled.postData(),
      })
      expect(late.status).toBe(201)
      const { data } = await client.payments.list()
      expect(data).toMatchObject([{ amount_cents }])
      expect(await late.json()).toEqual(data[0])
    },
  )

  it.runIf(isSoak)('say what was paid when the connection broke before the answer', async () => {
    const { address, client } = await openTable()
    const page = await openTouch(address)
    await choose(page, 'My items')
    await page.route('**/payments', async (route) => {
      await page.context().setOffline(true)
      await route.fetch()
      await route.abort('internetdisconnected')
    })
    await button(page, 'Pay $5.50').tap()
    await shown(page, 'You are offline.')
    await page.getByRole('alert').getByText('Try again: a payment is made only once.').waitFor()
    await page.context().setOffline(false)
    await receipt(page).waitFor()
    await page.getByRole('alert').getByText('You are back online. You paid $5.50. $25.30 is left.').waitFor()
    expect((await client.payments.list()).data).toHaveLength(1)
  })

  it('say that a rating may have been sent when its answer was lost', async () => {
    const { address, client } = await openTable()
    const page = await openTouch(address)
    await client.guests.pay('a', {})
    await page.getByRole('radio', { name: '5 stars' }).check()
    await page.route('**/feedback', loseAnswer)
    await button(page, 'Send rating').tap()
    await page.getByRole('alert').getByText('Your rating may have been sent.').waitFor()
    expect((await client.feedback.list()).data).toHaveLength(1)
  })

  it('pay every cent once when two guests pay in turns over slow connections', async () => {
    const { address, client } = await openTable({}, dinner)
    const pages = [await openTouch(address), await openTouch(address)]
    for (const [index, page] of pages.entries()) {
      await named(page, index === 0 ? 'Ann' : 'Bob')
      let count = index
      await page.route(/\/(payments|claims|state)$/, async (route) => {
        const way = count++ % 3
        if (way === 0) return route.continue()
        const response = await route.fetch()
        // Another request overtakes this answer, or it is lost.
        await client.checks.get('a')
        return way === 1 || route.request().method() === 'GET' ? route.fulfill({ response }) : route.abort()
      })
    }
    const [ann, bob] = pages
    if (ann === undefined || bob === undefined) return expect.fail()
    await tapRow(ann, 'Wine')
    await tapRow(bob, 'Burger')
    await shown(ann, 'Bob · 1')
    await shown(bob, 'Ann · 1')
    await button(ann, 'Pay $5.50').tap()
    await button(bob, 'Pay $11.00').tap()
    await Promise.all(pages.map(pressPay))
    for (const page of pages) await receipt(page).waitFor()
    for (const page of pages) await shown(page, '$14.30 left')
    for (const page of pages) await button(page, 'Rest of the check').tap()
    for (const page of pages) await button(page, 'Pay $14.30').tap()
    await Promise.all(pages.map(pressPay))
    for (const page of pages) await shown(page, 'This check is fully paid. Thank you!')
    const { data } = await client.payments.list()
    expect(data).toHaveLength(3)
    expect(data.reduce((sum, { amount_cents }) => sum + amount_cents, 0)).toBe(3080)
    expect((await client.events.list({ type: 'check.fully_paid' })).data).toHaveLength(1)
  })
})
