import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { barriersInSoak } from '../../support/barriers.ts'
import { isSoak, sampled } from '../../soak/seeded.ts'
import { hasBrowser, inBrowser } from '../../support/browser.ts'
import { openReceiver, openSimulator } from '../../support/simulator.ts'
import { openInspector, storeDeliveries } from './open-inspector.ts'

const withTimeout = { timeout: 30_000 }
const drawer = (page: Page) => page.getByRole('region', { name: 'Details' })
const focusedRow = (page: Page) => page.locator('.row:focus')
const outcomeShown = (page: Page, text: string | RegExp) =>
  page.locator('.outcome', { hasText: text }).waitFor()

/** Presses Tab until the focus is in the list, at most as often as the page has controls. */
async function tabToList(page: Page): Promise<void> {
  await expect
    .poll(async () => {
      if ((await focusedRow(page).count()) === 1) return true
      await page.keyboard.press('Tab')
      return (await focusedRow(page).count()) === 1
    }, withTimeout)
    .toBe(true)
}

/** Opens the inspector of a service with one delivery, which its receiver refuses. */
async function openFailedDelivery() {
  const simulator = await openSimulator()
  const receiver = await openReceiver((response) => response.writeHead(503).end('out of order'))
  await simulator.client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
  await simulator.push('table-12')
  await simulator.idle()
  return { simulator, receiver, page: await openInspector(simulator) }
}

describe.skipIf(!hasBrowser)(`the inspector by keyboard ${inBrowser}`, () => {
  it.runIf(isSoak)(
    'reaches the list by one tab stop, and moves within it by arrow and page keys',
    async () => {
      const simulator = await openSimulator()
      await storeDeliveries(simulator.client, 90)
      const page = await openInspector(simulator)
      await page.locator('.row').first().waitFor()
      const at = async () => Number((await focusedRow(page).getAttribute('data-open'))?.slice(-3))
      expect(await page.locator('.row[tabindex="0"]').count()).toBe(1)
      await tabToList(page)
      expect(await at()).toBe(89)
      for (const [key, number] of [
        ['ArrowDown', 88],
        ['ArrowDown', 87],
        ['ArrowUp', 88],
        ['j', 87],
        ['k', 88],
        ['Home', 89],
        ['ArrowUp', 89],
      ] as const) {
        await page.keyboard.press(key)
        await expect.poll(at, withTimeout).toBe(number)
      }
      const rows = await page.evaluate('Math.floor(document.querySelector(".scroller").clientHeight / 36)')
      await page.keyboard.press('PageDown')
      await expect.poll(at, withTimeout).toBe(89 - Number(rows) + 1)
      await page.keyboard.press('PageUp')
      await expect.poll(at, withTimeout).toBe(89)
      await page.keyboard.press('End')
      await expect.poll(at, withTimeout).toBe(0)
      expect(await page.locator('.row[tabindex="0"]').count()).toBe(1)
      // The next Tab leaves the list, and Shift+Tab comes back to the same row.
      await page.keyboard.press('Shift+Tab')
      expect(await focusedRow(page).count()).toBe(0)
      await page.keyboard.press('Tab')
      expect(await at()).toBe(0)
    },
  )

  it('opens a record with Enter, which takes the focus, and returns it with Escape', async () => {
    const simulator = await openSimulator()
    for (const id of ['a', 'b', 'c']) await simulator.push(id)
    const viewports = [
      // The drawer covers the list.
      { width: 360, height: 740 },
      { width: 1440, height: 900 },
    ]
    for (const viewport of sampled(viewports, 2)) {
      const page = await openInspector(simulator, { viewport })
      await page.goto(`${simulator.url}/?view=checks`)
      await page.locator('.row').first().waitFor()
      await tabToList(page)
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await drawer(page).getByRole('heading', { name: 'b' }).waitFor()
      await page.locator('.drawer:focus').waitFor()
      // A link in the record replaces it, and the focus stays in the drawer.
      await drawer(page).getByRole('link', { name: 'Push' }).first().press('Enter')
      await drawer(page).getByText('X-Request-Id', { exact: true }).waitFor()
      await page.locator('.drawer:focus').waitFor()
      await page.keyboard.press('Escape')
      await drawer(page).waitFor({ state: 'detached' })
      await page.locator('.row:focus', { hasText: 'b' }).waitFor()
      // In the list, a move takes the open record along.
      await page.keyboard.press('Enter')
      await page.locator('.drawer:focus').waitFor()
      await page.keyboard.press('j')
      await drawer(page).getByRole('heading', { name: 'a', exact: true }).waitFor()
      await page.context().close()
    }
  })

  it.runIf(isSoak)(
    'finds why a delivery failed and resends it with three keys, without a click',
    async () => {
      const { simulator, receiver, page } = await openFailedDelivery()
      await page.locator('.row', { hasText: 'retrying' }).waitFor()
      await page.keyboard.press('j')
      await page.locator('.row:focus').press('Enter')
      await drawer(page).getByText('The receiver returned 503').waitFor()
      await drawer(page).getByText('out of order').waitFor()
      receiver.answer(200)
      await page.keyboard.press('r')
      await outcomeShown(page, '(new signature)')
      await drawer(page).locator('.badge', { hasText: 'delivered' }).waitFor()
      const delivered = async () =>
        (await simulator.client.deliveries.list({ status: 'delivered' })).data.length
      expect(await delivered()).toBe(1)
      // Without an open record, the key resends the delivery of the row with the focus.
      await page.keyboard.press('Escape')
      await focusedRow(page).press('r')
      await expect.poll(delivered, withTimeout).toBe(2)
    },
  )

  it.runIf(isSoak)('finds why a delivery failed and resends it with two clicks', async () => {
    const { receiver, page } = await openFailedDelivery()
    let clicks = 0
    const click = async (target: ReturnType<Page['locator']>) => {
      clicks += 1
      await target.click()
    }
    await click(page.locator('.row', { hasText: 'retrying' }))
    await drawer(page).getByText('out of order').waitFor()
    receiver.answer(200)
    await click(drawer(page).getByRole('button', { name: 'Resend', exact: true }))
    await outcomeShown(page, '(new signature)')
    await drawer(page).locator('.badge', { hasText: 'delivered' }).waitFor()
    expect(clicks).toBeLessThanOrEqual(3)
  })

  it.runIf(isSoak)(
    'advances with a, copies with c, and leaves keys to fields and to the browser',
    async () => {
      const simulator = await openSimulator()
      const { client } = simulator
      const receiver = await openReceiver(500)
      await client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
      await simulator.push('table-12')
      await simulator.idle()
      const page = await openInspector(simulator, { permissions: ['clipboard-read', 'clipboard-write'] })
      const clipboard = () => page.evaluate('navigator.clipboard.readText()')
      const [delivery] = (await client.deliveries.list()).data
      await page.locator('.row').first().waitFor()
      await page.keyboard.press('j')
      await focusedRow(page).waitFor()
      await page.keyboard.press('c')
      await expect.poll(clipboard, withTimeout).toBe(delivery?.id)
      await page.keyboard.press('Enter')
      await drawer(page).getByText('2 of 7').waitFor()
      for (const modifier of ['ctrlKey', 'altKey', 'metaKey'])
        await page.locator('.drawer').dispatchEvent('keydown', { key: 'r', [modifier]: true, bubbles: true })
      await page.keyboard.press('a')
      await outcomeShown(page, 'Attempts made: 1.')
      await drawer(page).getByText('3 of 7').waitFor()
      await page.getByRole('searchbox').fill('')
      await page.getByRole('searchbox').pressSequentially('rac?')
      await page.keyboard.press('Escape')
      await page.keyboard.press('?')
      const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
      await help.getByText('resend the open or focused delivery').waitFor()
      expect(await barriersInSoak(page)).toEqual([])
      await page.keyboard.press('r')
      await page.keyboard.press('Escape')
      await help.waitFor({ state: 'detached' })
      expect((await client.deliveries.list()).data).toHaveLength(1)
      await page.keyboard.press('Escape')
      await drawer(page).waitFor({ state: 'detached' })
      await page.keyboard.press('a')
      await page.locator('.controls input:focus').waitFor()
    },
  )
})
