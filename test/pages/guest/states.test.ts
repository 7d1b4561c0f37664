import { describe, expect, it } from 'vitest'
import { barriers } from '../../support/barriers.ts'
import { isSoak } from '../../soak/seeded.ts'
import { hasBrowser, inBrowser, openPhone } from '../../support/browser.ts'
import { totals } from '../../support/simulator.ts'
import {
  button,
  dinner,
  named,
  openTable,
  openTouch,
  receipt,
  rowOf,
  shown,
  tapRow,
} from './guest-page-fixtures.ts'

describe.skipIf(!hasBrowser)(`states of the guest page ${inBrowser}`, () => {
  it.runIf(isSoak)('offers only to pay the rest of a closed check', async () => {
    const { address, client, push } = await openTable()
    await client.guests.claim('a', { guest_name: 'Bob', items: [{ external_id: 'wine', quantity: 1 }] })
    await push('a', { ...dinner, status: 'closed' })
    const page = await openTouch(address)
    await shown(page, 'Closed')
    expect(await page.getByRole('button').allTextContents()).toEqual(['Pay the rest: $30.80'])
    await button(page, 'Pay the rest: $30.80').tap()
    expect(await page.getByRole('radio', { name: /My items|Split evenly/ }).count()).toBe(0)
    await button(page, 'Pay $30.80').tap()
    await receipt(page).waitFor()
    expect(await client.checks.get('a')).toMatchObject({ balance_cents: 0 })
  })

  it('says that nothing was paid when the check leaves the table while the form is open', async () => {
    const { address, push } = await openTable()
    const page = await openTouch(address)
    await button(page, 'Pay $30.80').tap()
    await page.locator('.pay h2:focus').waitFor()
    await push('a', { ...dinner, table: { number: '13' } })
    await shown(page, 'You have not paid. This check is no longer at your table.')
    await page.locator('.notice button:focus').waitFor()
    expect(await page.locator('.pay').count()).toBe(0)
  })

  it('shows several checks as an accordion, with one of them expanded', async () => {
    const { address, push } = await openTable()
    for (const id of ['b', 'c', 'd']) await push(id)
    const page = await openTouch(address)
    const checks = page.getByRole('button', { name: /^Check \d of 4$/ })
    await checks.first().waitFor()
    const expanded = async () =>
      Promise.all((await checks.all()).map((one) => one.getAttribute('aria-expanded')))
    expect(await expanded()).toEqual(['true', 'false', 'false', 'false'])
    await button(page, 'Check 4 of 4').tap()
    await button(page, 'Pay $30.80').waitFor()
    expect(await expanded()).toEqual(['false', 'false', 'false', 'true'])
    await shown(page, '$18.50 left')
    await button(page, 'Pay $30.80').tap()
    await button(page, 'Pay $30.80').tap()
    await page.locator('.receipt h2:focus').waitFor()
    expect(await expanded()).toEqual(['false', 'false', 'false', 'false'])
    await button(page, 'Check 1 of 4').press('Enter')
    expect(await expanded()).toEqual(['true', 'false', 'false', 'false'])
    await button(page, 'Pay $18.50').waitFor()
  })

  it('expands a check when its first items arrive, unless the guest collapsed it', async () => {
    const { address, push } = await openTable({}, { items: [], totals: totals(0) })
    const page = await openTouch(address)
    await shown(page, 'No items yet.')
    await page.getByLabel('Your name').waitFor()
    await push('a', dinner)
    await button(page, 'Pay $30.80').waitFor()
    await push('b', { items: [], totals: totals(0) })
    await button(page, 'Check 1 of 2').tap()
    await shown(page, 'No items yet.')
    await button(page, 'Check 1 of 2').tap()
    await push('b', dinner)
    await page.getByText('$30.80 left').nth(1).waitFor()
    expect(await button(page, /^Pay/).count()).toBe(0)
  })

  it('expands a check that others had paid when the POS adds an item', async () => {
    const { address, client, push } = await openTable()
    await client.guests.pay('a', { guest_name: 'Anna' })
    const page = await openTouch(address)
    await page.getByLabel('Your name').waitFor()
    await shown(page, 'This check is fully paid. Thank you!')
    await push('a', { ...dinner, totals: { ...dinner.totals, total_cents: 4000 } })
    await button(page, 'Pay $9.20').waitFor()
  })

  it('asks for a rating again when a check with the same identifier is pushed after a reset', async () => {
    const { address, client, push } = await openTable()
    const page = await openTouch(address)
    const payAndRate = async () => {
      await button(page, 'Pay $30.80').tap()
      await button(page, 'Pay $30.80').tap()
      await page.getByRole('radio', { name: '5 stars' }).check()
      await button(page, 'Send rating').tap()
      await shown(page, 'Thank you for your rating')
    }
    await payAndRate()
    await page.reload()
    await shown(page, 'Thank you for your rating')
    await client.state.reset()
    await shown(page, 'No check yet')
    await push('a', dinner)
    await payAndRate()
    expect((await client.feedback.list()).data).toHaveLength(1)
  })

  it('does not pay while the phone is offline, and says what happened meanwhile', async () => {
    const { address, client } = await openTable()
    const [page, anna] = [await openTouch(address), await openPhone(address)]
    await tapRow(page, 'Wine')
    await button(page, 'Pay $5.50').tap()
    await page.context().setOffline(true)
    await shown(page, 'You are offline. You can pay once you are online again.')
    const pay = button(page, 'Pay $5.50')
    expect(await pay.getAttribute('aria-disabled')).toBe('true')
    expect(await page.locator(`#${await pay.getAttribute('aria-describedby')}`).textContent()).toContain(
      'You are offline',
    )
    expect(await barriers(page)).toEqual([])
    await pay.dispatchEvent('click')
    await button(page, 'I had this: 1 Burger').dispatchEvent('click')
    await named(anna, 'Anna')
    await button(anna, 'I had this: 1 Burger').click()
    await button(anna, 'Pay $11.00').click()
    await button(anna, 'Pay $11.00').click()
    await receipt(anna).waitFor()
    await page.context().setOffline(false)
    await page
      .getByRole('alert')
      .getByText('You are back online. Anna paid $11.00. $19.80 is left.')
      .waitFor()
    expect(await page.getByText('You are offline').count()).toBe(0)
    expect((await client.payments.list()).data).toHaveLength(1)
    await button(page, 'Pay $5.50').tap()
    await receipt(page).waitFor()
  })

  it.runIf(isSoak)(
    'names the guest who was faster at the item, and removes the message after some seconds',
    async () => {
      const { address } = await openTable()
      const [page, anna] = [await openTouch(address), await openTouch(address)]
      await named(anna, 'Anna')
      await page.clock.install()
      await page.reload()
      await page.route('**/claims', async (route) => {
        await tapRow(anna, 'Wine')
        await button(anna, 'Remove Wine').waitFor()
        await route.continue()
      })
      await tapRow(page, 'Wine')
      const row = rowOf(page, 'Wine')
      await row.getByText('Anna just took the Wine.').waitFor()
      await page.clock.runFor(8_000)
      await row.getByText('Anna just took the Wine.').waitFor({ state: 'detached' })
    },
  )

  it('names the guest whose payment was first', async () => {
    const { address, client } = await openTable()
    const page = await openTouch(address)
    await button(page, 'Pay $30.80').tap()
    await page.route('**/payments', async (route) => {
      await client.guests.pay('a', { guest_name: 'Anna', amount_cents: 1200 })
      await route.continue()
    })
    await button(page, 'Pay $30.80').tap()
    const text = 'Anna paid $12.00. $18.80 is left. You have not paid. Please check the new amount.'
    await page.getByRole('alert').getByText(text).waitFor()
    await button(page, 'Pay $18.80').waitFor()
  })
})
