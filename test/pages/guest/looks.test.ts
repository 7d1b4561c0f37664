import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { barriers } from '../../support/barriers.ts'
import { isSoak, sampled } from '../../soak/seeded.ts'
import { hasBrowser, inBrowser, openPhone } from '../../support/browser.ts'
import { check, item } from '../../support/simulator.ts'
import { button, openTable, receipt, shown } from './guest-page-fixtures.ts'

const long = 'Copper Burger with aged cheddar, smoked onions and a very-long-word-that-does-not-break'
const dinner = check({
  items: [
    item('beer', { name: 'Pale Ale', quantity: 12, price_cents: 650 }),
    item('burger', { name: long, quantity: 2, price_cents: 170_000 }),
    item('wine', { name: 'Wine', price_cents: 500, note: 'by the glass' }),
    item('cake', { name: 'Cake', price_cents: 850 }),
    item('off', { name: 'Happy hour', price_cents: -500 }),
  ],
  totals: { subtotal_cents: 348_650, tax_cents: 6520, total_cents: 355_170 },
})

/** Expects no accessibility violation, nothing clipped and no small touch target at any width. */
async function looksWell(page: Page, state: string): Promise<void> {
  for (const width of isSoak ? [360, 390, 768, 1024, 1440] : [360, 1440]) {
    await page.setViewportSize({ width, height: 844 })
    const found = await page.evaluate<string[]>(`
      [
        ...(document.documentElement.scrollWidth > innerWidth ? ['wider than the screen'] : []),
        ...[...document.querySelectorAll('button, a, input:not([type=radio]), .choice')]
          .filter((element) => Math.min(element.offsetHeight, element.offsetWidth) < 44)
          .map((element) => 'small: ' + element.outerHTML),
        ...[...document.querySelectorAll('.amount, dd, button, h1, h2')]
          .filter((element) => {
            const { left, right } = element.getBoundingClientRect()
            return left < 0 || right > innerWidth || element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0
          })
                    .map((element) => 'clipped: ' + element.outerHTML),
        ...[...document.querySelectorAll('.tips .face, .cards .face, .main')]
          .filter((element) => element.offsetHeight > 56)
          .map((element) => 'broken: ' + element.outerHTML),
      ]`)
    const judged = isSoak || width === 360 ? await barriers(page) : []
    expect([state, width, ...found, ...judged]).toEqual([state, width])
  }
}

describe.skipIf(!hasBrowser)(`the appearance of the guest page ${inBrowser}`, () => {
  it.each(sampled(['dark', 'light'] as const, 2))(
    'has no accessibility barrier in any state, at any width, in the %s scheme',
    { timeout: 180_000 },
    async (colorScheme) => {
      const { address, client, push } = await openTable({}, dinner)
      const page = await openPhone(address, { colorScheme, reducedMotion: 'reduce' })
      await button(page, 'Split').waitFor()
      await looksWell(page, 'first')
      const bob = (external_id: string) =>
        client.guests.claim('a', { guest_name: 'Bob', items: [{ external_id, quantity: 1 }] })
      await bob('beer')
      await bob('burger')
      await button(page, `I had this: 1 ${long}`).click()
      await button(page, 'I had this: 1 Pale Ale').click()
      await button(page, 'Add 1 Pale Ale').waitFor()
      await looksWell(page, 'claimed')
      await page.route('**/claims', async (route) => {
        await bob('wine')
        await route.continue()
      })
      await button(page, 'I had this: 1 Wine').click()
      await shown(page, 'Bob just took the Wine.')
      await looksWell(page, 'taken')
      await page.unroute('**/claims')
      await button(page, 'Split').click()
      await page.getByRole('radio', { name: /Split evenly/ }).check()
      await page.getByRole('radio', { name: 'Other' }).check()
      await page.getByLabel('Tip amount').fill('lots')
      await button(page, 'Enter a valid tip').waitFor()
      await looksWell(page, 'split')
      await page.getByLabel('Tip amount').fill('12')
      await page.getByRole('radio', { name: /declined/ }).check()
      await page.getByRole('radio', { name: /My items/ }).check()
      await button(page, /^Pay \$/).click()
      await page.getByRole('alert').getByText('Your card was declined').waitFor()
      await looksWell(page, 'declined')
      await page.getByRole('radio', { name: /approved/ }).check()
      await button(page, /^Pay \$/).click()
      await receipt(page).waitFor()
      await page.getByRole('radio', { name: '4 stars' }).check()
      await looksWell(page, 'paid')
      await button(page, 'Rest of the check').click()
      await button(page, 'Split').waitFor()
      await looksWell(page, 'rest')
      await page.context().setOffline(true)
      await shown(page, 'You are offline.')
      await looksWell(page, 'offline')
      await client.guests.pay('a', { guest_name: 'Bob', amount_cents: 100 })
      await page.context().setOffline(false)
      await shown(page, 'You are back online.')
      await looksWell(page, 'back')
      await push('b', { ...dinner, status: 'closed' })
      await button(page, 'Check 2 of 2').click()
      await button(page, /^Pay the rest/).waitFor()
      await looksWell(page, 'accordion')
      await client.guests.pay('b')
      await shown(page, 'This check is fully paid.')
      await looksWell(page, 'fully paid')
    },
  )

  it('leaves the name of an item room beside amounts of seven digits', async () => {
    const magnum = item('magnum', { name: 'Grand Cru Champagne', quantity: 12, price_cents: 12_345_678 })
    const totals = { subtotal_cents: 148_148_136, tax_cents: 0, total_cents: 148_148_136 }
    const { address } = await openTable({}, check({ items: [magnum], totals }))
    const page = await openPhone(address)
    await page.setViewportSize({ width: 320, height: 844 })
    await button(page, 'I had this: 1 Grand Cru Champagne').waitFor()
    const widths = await page.locator('.what').evaluateAll((all) => all.map(({ clientWidth }) => clientWidth))
    expect(Math.min(...widths)).toBeGreaterThan(80)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
  })
})
