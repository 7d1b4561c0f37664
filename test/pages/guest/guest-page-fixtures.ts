import type { Page } from 'playwright-core'
import type { Push } from '../../../src/model/check.ts'
import type { SimulatorOptions } from '../../../src/simulator.ts'
import { openPhone } from '../../support/browser.ts'
import { check, item, openSimulator } from '../../support/simulator.ts'

export const dinner = check({
  items: [
    item('burger', { name: 'Burger', quantity: 2, price_cents: 1000 }),
    item('wine', { name: 'Wine', price_cents: 500 }),
    item('bread', {
      name: '<script>alert(1)</script>',
      price_cents: 300,
      note: '"><img src=x onerror=alert(2)>',
    }),
  ],
  totals: { subtotal_cents: 2800, tax_cents: 280, total_cents: 3080 },
})

/** A service with a check at table 12. */
export async function openTable(options: SimulatorOptions = {}, push: Partial<Push> = dinner) {
  const simulator = await openSimulator(options)
  await simulator.push('a', push)
  return { ...simulator, address: (await simulator.client.tables.address('12')).url }
}

export const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
export const receipt = (page: Page) => page.getByRole('heading', { name: 'Your receipt' })
export const shown = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor()

/** A phone with a touch screen. Pages do not scroll smoothly, so that a tap meets what stands still. */
export const openTouch = (address: string) =>
  openPhone(address, {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
    reducedMotion: 'reduce',
  })

/** Types the guest's name, which others see beside items and payments. */
export const named = (page: Page, name: string) => page.getByLabel('Your name').fill(name)

/** The row of an item. */
export const rowOf = (page: Page, name: string) =>
  page.locator('.item', { has: page.getByText(name, { exact: true }) })

/** Taps the row of an item at its left edge, far from its button. The rendering of the service has rows, but no controls. */
export async function tapRow(page: Page, name: string): Promise<void> {
  await page.getByLabel('Your name').waitFor()
  await rowOf(page, name).tap({ position: { x: 5, y: 5 } })
}
