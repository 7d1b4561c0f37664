import jsqr from 'jsqr'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { barriersInSoak } from '../../support/barriers.ts'
import { isSoak } from '../../soak/seeded.ts'
import { hasBrowser, inBrowser } from '../../support/browser.ts'
import { check, item, openReceiver, openSimulator, totals } from '../../support/simulator.ts'
import { openInspector } from './open-inspector.ts'

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const row = (page: Page, text: string | RegExp) => page.locator('.row', { hasText: text })
const drawer = (page: Page) => page.getByRole('region', { name: 'Details' })
const outcomeShown = (page: Page, text: string | RegExp) =>
  page.locator('.outcome', { hasText: text }).waitFor()

describe.skipIf(!hasBrowser)(`endpoints and checks ${inBrowser}`, () => {
  it('registers an endpoint, shows its secret once, pings, deletes and registers it again', async () => {
    const simulator = await openSimulator()
    const { client } = simulator
    const receiver = await openReceiver([200, 503])
    const page = await openInspector(simulator, { permissions: ['clipboard-read', 'clipboard-write'] })
    await page.getByRole('navigation').getByRole('link', { name: 'Endpoints' }).click()
    await page.getByText('No endpoints yet').waitFor()
    await button(page, 'Register endpoint').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('URL').fill('http://example.com/webhooks')
    await dialog.getByLabel('check.updated').uncheck()
    await button(page, 'Register').click()
    await dialog.getByRole('alert').getByText('https').waitFor()
    expect(await barriersInSoak(page)).toEqual([])
    await dialog.getByLabel('URL').fill(receiver.url)
    await button(page, 'Register').click()
    const secret = await dialog.getByText(/^whsec_/).textContent()
    await button(page, 'Copy secret').click()
    await page.getByText('Copied').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret)
    expect(await barriersInSoak(page)).toEqual([])
    await button(page, 'Done').click()
    await drawer(page).getByText('No deliveries yet.').waitFor()
    expect(await page.content()).not.toContain('whsec_')
    const [made] = (await client.endpoints.list()).data
    expect(made?.event_types).not.toContain('check.updated')

    for (const text of ['Ping delivered: 200', 'Ping failed']) {
      await button(page, 'Ping').click()
      await outcomeShown(page, text)
    }
    await drawer(page).getByText('1 of the last 2 (50%)').waitFor()
    await drawer(page).getByText('The receiver returned 503.').waitFor()
    await drawer(page)
      .locator('.delivery', { hasText: /ping.*dead.*503/ })
      .waitFor()
    await row(page, /enabled/).waitFor()

    await button(page, 'Delete…').click()
    await button(page, 'Cancel').click()
    expect((await client.endpoints.list()).data).toHaveLength(1)
    await button(page, 'Delete…').click()
    await button(page, 'Delete endpoint').click()
    await outcomeShown(page, 'Deleted')
    await drawer(page).waitFor({ state: 'detached' })
    expect((await client.endpoints.list()).data).toEqual([])
  })

  it('registers a disabled endpoint again', async () => {
    const simulator = await openSimulator()
    const { client } = simulator
    const { url } = await openReceiver()
    const { id } = await client.endpoints.create({ url, event_types: ['check.closed'] })
    const state = await client.state.get()
    const disabled = {
      status: 'disabled',
      disabled_at: state.events[0]?.created_at ?? '2026-11-21T18:00:00.000Z',
    }
    const endpoints = state.endpoints.map((endpoint) => ({
      ...endpoint,
      ...disabled,
      disabled_reason: 'failures',
    }))
    await client.state.put(JSON.stringify({ ...state, endpoints }))
    const page = await openInspector(simulator)
    await page.goto(`${simulator.url}/?view=endpoints&open=${id}`)
    await button(page, 'Register again').click()
    await page
      .getByRole('dialog')
      .getByText(/^whsec_/)
      .waitFor()
    await button(page, 'Done').click()
    await button(page, 'Ping').waitFor()
    expect((await client.endpoints.list()).data).toMatchObject([
      { url, status: 'enabled', event_types: ['check.closed'] },
      { id, status: 'disabled' },
    ])
  })

  it.runIf(isSoak)(
    'shows payments, refunds and feedback of a check, refunds, rates, and links its guest page',
    async () => {
      const simulator = await openSimulator()
      const { client, push } = simulator
      await push('a', { items: [item('burger', { price_cents: 2_000 })], totals: totals(2_000) })
      await client.guests.pay('a', { guest_name: 'Ben', amount_cents: 1_000, tip_cents: 150 })
      const page = await openInspector(simulator, { deviceScaleFactor: 2 })
      await page.goto(`${simulator.url}/?view=checks&open=check/a`)
      await drawer(page).getByText('$1.50 tip').waitFor()
      await page.getByLabel('Refund amount').fill('2.50')
      await button(page, 'Refund').click()
      await outcomeShown(page, 'Payment refunded.')
      await drawer(page).getByText('partially refunded').waitFor()
      await drawer(page).getByText('$2.50 refunded').waitFor()
      await button(page, 'Refund').click()
      await drawer(page)
        .locator('.badge', { hasText: /refunded$/ })
        .waitFor()
      await button(page, 'Refund').waitFor({ state: 'detached' })
      await page.getByLabel('Name').fill('Mia')
      await page.getByLabel('Rating').selectOption('4')
      await page.getByLabel('Comment').fill('Lovely')
      await button(page, 'Rate').click()
      await drawer(page).getByRole('img', { name: '4 of 5 stars' }).waitFor()
      expect((await client.feedback.list()).data).toMatchObject([
        { guest_name: 'Mia', rating: 4, comment: 'Lovely' },
      ])
      expect(await barriersInSoak(page)).toEqual([])

      const { url } = await client.tables.address('12')
      expect(await drawer(page).getByRole('link', { name: 'Open guest page' }).getAttribute('href')).toBe(url)
      expect(await readQr(page)).toBe(url)
      await page.keyboard.press('?')
      await page.getByRole('dialog').getByRole('link', { name: '/docs' }).waitFor()
    },
  )

  it.runIf(isSoak)('drives two guests and a POS to their 409 responses with four clicks', async () => {
    const simulator = await openSimulator()
    const { client, push } = simulator
    const items = [item('cornbread', { name: 'Skillet Cornbread', price_cents: 900 })]
    await push('a', { items, totals: totals(900), revision: 7 })
    const page = await openInspector(simulator)
    let clicks = 0
    const click = async (one: ReturnType<Page['locator']>) => {
      clicks += 1
      await one.click()
    }
    await click(page.getByRole('navigation').getByRole('link', { name: 'Checks' }))
    await click(row(page, 'open'))
    await click(button(page, 'Race two guests for Skillet Cornbread'))
    const answers = page.getByRole('list', { name: 'Responses' })
    await answers.getByText('Claimed Skillet Cornbread.').waitFor()
    await answers.getByText('not_claimable').waitFor()
    await click(button(page, 'Push the check without Skillet Cornbread'))
    await answers.getByText('conflict_with_paid_items').waitFor()
    expect(await answers.locator('.code').allTextContents()).toHaveLength(3)
    expect((await answers.locator('.code').allTextContents()).toSorted()).toEqual(['201', '409', '409'])
    expect(clicks).toBeLessThanOrEqual(4)
    expect((await client.claims.list()).data).toHaveLength(1)
    expect(await barriersInSoak(page)).toEqual([])
  })

  it.runIf(isSoak)('shows checks of tables whose number no URL can hold, without a guest page', async () => {
    const simulator = await openSimulator()
    const page = await openInspector(simulator)
    for (const number of ['..', '\ud800', '7']) {
      await simulator.push('a', { table: { number } })
      await page.goto(`${simulator.url}/?view=checks&open=check/a`)
      await drawer(page).getByText('Act as a guest').last().waitFor()
      await drawer(page).getByRole('cell', { name: 'A burger' }).waitFor()
      expect(await drawer(page).getByRole('heading', { name: 'Guest page' }).count()).toBe(
        number === '7' ? 1 : 0,
      )
    }
  })

  it.runIf(isSoak).each([
    ['version', 7],
    ['version', Number.MAX_SAFE_INTEGER],
    ['updated_at', '2026-11-21T18:00:00.000Z'],
  ])('lets two guests race while %s orders pushes, at %s', async (orderBy, revision) => {
    const simulator = await openSimulator({ orderBy })
    const { client } = simulator
    const pushed = check({ items: [item('cake', { name: 'Cake' })] })
    await client.checks.push('a', { ...pushed, [orderBy]: revision })
    const page = await openInspector(simulator)
    await page.goto(`${simulator.url}/?view=checks&open=check/a`)
    await button(page, 'Race two guests for Cake').click()
    await button(page, 'Push the check without Cake').click()
    const answers = page.getByRole('list', { name: 'Responses' })
    await answers.getByText('conflict_with_paid_items').waitFor()

    if (revision !== 7) return
    await page.route('**/_sim/checks/a', async (route) => {
      if (route.request().method() === 'PUT') await client.checks.push('a', { ...pushed, [orderBy]: 100 })
      await route.continue()
    })
    await button(page, 'Push the check without Cake').click()
    await answers.getByText('Ignored: the push has no newer version.').waitFor()
  })

  it.runIf(isSoak)('sends a test event from an empty list', async () => {
    const simulator = await openSimulator()
    const { client, idle } = simulator
    const page = await openInspector(simulator)
    // Without an endpoint, nothing would be delivered.
    await page.getByText('No deliveries yet').waitFor()
    await button(page, 'Register endpoint').waitFor()
    const { url } = await openReceiver()
    await client.endpoints.create({ url, event_types: ['check.created'] })
    await button(page, 'Send a test event').click()
    await outcomeShown(page, 'Sent check.created')
    await row(page, /check\.created.*delivered/).waitFor()
    await idle()
    expect((await client.checks.list()).data).toHaveLength(1)
  })
})

/** Returns the text of the QR code on the page, as a scanner reads it. */
async function readQr(page: Page): Promise<string | undefined> {
  const code = page.getByRole('img', { name: /^QR code/ })
  await code.scrollIntoViewIfNeeded()
  const url = `data:image/png;base64,${(await code.screenshot()).toString('base64')}`
  // One letter per pixel: Playwright passes long texts far faster than long lists.
  const { width, height, pixels } = await page.evaluate<{ width: number; height: number; pixels: string }>(
    `(async () => {
      const image = new Image()
      image.src = ${JSON.stringify(url)}
      await image.decode()
      const { width, height } = image
      const context = new OffscreenCanvas(width, height).getContext('2d')
      context.drawImage(image, 0, 0)
      const { data } = context.getImageData(0, 0, width, height)
      let pixels = ''
      for (let at = 0; at < data.length; at += 4) pixels += data[at] < 128 ? '1' : '0'
      return { width, height, pixels }
    })()`,
  )
  const data = Array.from(pixels, (pixel) => (pixel === '1' ? [0, 0, 0, 255] : [255, 255, 255, 255])).flat()
  const read = jsqr as unknown as typeof jsqr.default
  return read(Uint8ClampedArray.from(data), width, height)?.data
}
