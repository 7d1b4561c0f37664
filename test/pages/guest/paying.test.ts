import { describe, expect, it } from 'vitest'
import { isSoak } from '../../soak/seeded.ts'
import { hasBrowser, inBrowser, openPhone } from '../../support/browser.ts'
import { check, item } from '../../support/simulator.ts'
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

const feast = check({
  items: Array.from({ length: 60 }, (_, index) =>
    item(`i${index}`, { name: `Dish ${index}`, price_cents: 100 }),
  ),
  totals: { subtotal_cents: 6000, tax_cents: 0, total_cents: 6000 },
})

describe.skipIf(!hasBrowser)(`paying on the guest page ${inBrowser}`, () => {
  it('offers the whole balance and a split, and shows one amount everywhere, with the tip', async () => {
    const { address, client } = await openTable()
    const page = await openTouch(address)
    const amounts = () => page.getByRole('button', { name: /^Pay / }).allTextContents()
    await button(page, 'Split').waitFor()
    expect(await amounts()).toEqual(['Pay $30.80'])
    await button(page, 'Pay $30.80').tap()
    await page.locator('.pay h2:focus').waitFor()
    expect(await amounts()).toEqual(['Pay $30.80'])
    await page.getByRole('radio', { name: '20%' }).tap()
    expect(await amounts()).toEqual(['Pay $36.96'])
    await page.locator('.pay .grand', { hasText: '$36.96' }).waitFor()
    await button(page, 'Back').tap()
    await shown(page, 'including $6.16 tip')
    expect(await amounts()).toEqual(['Pay $36.96'])
    await button(page, 'Split').tap()
    await page.getByRole('radio', { name: 'Split evenly $15.40' }).waitFor()
    expect(await amounts()).toEqual(['Pay $18.48'])
    await button(page, 'Pay $18.48').tap()
    await receipt(page).waitFor()
    expect((await client.payments.list()).data).toMatchObject([{ amount_cents: 1540, tip_cents: 308 }])
  })

  it('asks for a confirmation when the check changes while the form is open', async () => {
    const { address, client } = await openTable()
    const page = await openTouch(address)
    await button(page, 'Pay $30.80').tap()
    await page.locator('.pay h2:focus').waitFor()
    const [shownCheck] = (await client.checks.list()).data
    const more = item('champagne', { name: 'Champagne', price_cents: 25_000 })
    const { subtotal_cents, tax_cents, total_cents } = dinner.totals
    const totals = {
      tax_cents,
      subtotal_cents: subtotal_cents + 25_000,
      total_cents: total_cents + 25_000,
    }
    await client.checks.push(shownCheck?.external_id ?? '', {
      ...dinner,
      items: [...dinner.items, more],
      totals,
      revision: 2,
    })
    await button(page, 'The check has changed. Confirm $280.80').tap()
    await button(page, 'Pay $280.80').waitFor()
    expect((await client.payments.list()).data).toEqual([])
    // A second tap at once would count as a double click, which never pays.
    await page.getByRole('radio', { name: '10%' }).tap()
    await button(page, 'Pay $308.88').tap()
    await receipt(page).waitFor()
    expect((await client.payments.list()).data).toMatchObject([{ amount_cents: 28_080 }])
  })

  it.runIf(isSoak)('claims and releases an item by a tap anywhere on its row, beside its price', async () => {
    const { address } = await openTable()
    const page = await openTouch(address)
    const row = rowOf(page, 'Wine')
    await row.getByRole('button').waitFor()
    const [price, control] = [
      await row.locator('.amount').boundingBox(),
      await row.getByRole('button').boundingBox(),
    ]
    if (price === null || control === null) return expect.fail('The row is not visible.')
    expect(Math.abs(price.y + price.height / 2 - control.y - control.height / 2)).toBeLessThan(2)
    expect(control.x).toBeGreaterThanOrEqual(price.x + price.width)
    await tapRow(page, 'Wine')
    await button(page, 'Remove Wine').waitFor()
    await button(page, 'Pay $5.50').waitFor()
    await tapRow(page, 'Wine')
    await button(page, 'I had this: 1 Wine').waitFor()
    await button(page, 'Pay $30.80').waitFor()
  })

  it.runIf(isSoak)('adds and removes units of an item with several', async () => {
    const { address } = await openTable()
    const page = await openTouch(address)
    await tapRow(page, 'Burger')
    await button(page, 'Add 1 Burger').waitFor()
    await tapRow(page, 'Burger')
    await shown(page, 'You · 2')
    await tapRow(page, 'Burger')
    await shown(page, 'You · 1')
    await button(page, 'Remove Burger').tap()
    await button(page, 'I had this: 1 Burger').waitFor()
  })

  it.runIf(isSoak)('shows 60 items in less than 3,600 pixels of a phone', async () => {
    const { address } = await openTable({}, feast)
    const page = await openTouch(address)
    await button(page, 'I had this: 1 Dish 59').waitFor()
    expect(await page.evaluate<number>('document.documentElement.scrollHeight')).toBeLessThan(3600)
  })

  it.runIf(isSoak)('collapses the rest after the guest has paid, and resets the tip', async () => {
    const { address, client } = await openTable()
    const page = await openTouch(address)
    await tapRow(page, 'Wine')
    await button(page, 'Pay $5.50').tap()
    await page.getByRole('radio', { name: '20%' }).tap()
    await button(page, 'Pay $6.60').tap()
    await receipt(page).waitFor()
    const rest = page.getByRole('button', { name: 'Rest of the check', expanded: false })
    await rest.waitFor()
    await shown(page, '$25.30 left')
    expect(await page.getByRole('button', { name: /^Pay|Split/ }).count()).toBe(0)
    expect(await page.getByText('Burger').count()).toBe(0)
    await rest.tap()
    await page.getByRole('button', { name: 'Rest of the check', expanded: true }).waitFor()
    await button(page, 'Pay $25.30').tap()
    expect(await page.getByRole('radio', { name: 'None' }).isChecked()).toBe(true)
    await button(page, 'Pay $25.30').tap()
    await shown(page, 'This check is fully paid. Thank you!')
    expect((await client.payments.list()).data).toMatchObject([
      { amount_cents: 2530, tip_cents: 0 },
      { amount_cents: 550, tip_cents: 110 },
    ])
  })

  it.runIf(isSoak)('does not pay by a double click on the first screen', async () => {
    const { address, client } = await openTable()
    const page = await openPhone(address)
    await button(page, 'Pay $30.80').dblclick()
    await page.locator('.pay h2').waitFor()
    await page.getByRole('radio', { name: '10%' }).check()
    await button(page, 'Pay $33.88').waitFor()
    expect((await client.payments.list()).data).toEqual([])
  })

  it.runIf(isSoak)('leads back to the items when none is selected', async () => {
    const { address } = await openTable()
    const page = await openTouch(address)
    await button(page, 'Split').tap()
    await page.getByRole('radio', { name: 'My items $0.00' }).tap()
    await button(page, 'Select your items').tap()
    await page.locator(':focus[aria-label="I had this: 1 Burger"]').waitFor()
    await button(page, 'Pay $30.80').waitFor()
  })

  it('keeps a receipt with items, tax, tip, card and time, and prints nothing else', async () => {
    const { address, client, push } = await openTable()
    await client.guests.claim('a', { guest_name: 'Bob', items: [{ external_id: 'bread', quantity: 1 }] })
    const page = await openTouch(address)
    await named(page, 'Ann')
    await tapRow(page, 'Wine')
    await button(page, 'Remove Wine').waitFor()
    await tapRow(page, 'Burger')
    await button(page, 'Pay $16.50').tap()
    await page.getByRole('radio', { name: '10%' }).tap()
    await button(page, 'Pay $18.15').tap()
    await receipt(page).waitFor()
    await push('b')
    await button(page, 'Check 1 of 2').waitFor()
    const lines = await page.locator('.receipt .totals > div').allInnerTexts()
    expect(lines.map((line) => line.split(/\s*\n\s*/))).toEqual([
      ['1 × Wine', '$5.00'],
      ['1 × Burger', '$10.00'],
      ['Tax', '$1.50'],
      ['Tip', '$1.65'],
      ['Paid', '$18.15'],
      ['Card', 'Test card •• 4242'],
    ])
    await shown(page, 'The Copper Pan, Riverside · Table 12 · Check 2 of 2')
    await shown(page, /\w{3} \d{1,2}, 20\d\d, \d{1,2}:\d\d [AP]M/)
    await page.emulateMedia({ media: 'print' })
    const printed = await page.locator('body').innerText()
    expect(printed).toContain('1 × Wine')
    expect(printed).not.toMatch(/Print|Check 1|Rest of|How was|Your name/)
    await page.emulateMedia({ media: 'screen' })
    await page.evaluate('window.print = () => (document.title = "printed")')
    await button(page, 'Print').tap()
    expect(await page.title()).toBe('printed')
    await page.reload()
    await receipt(page).waitFor()
  })

  it.runIf(isSoak)('lists all items on the receipt of a guest who paid the whole check', async () => {
    const { address } = await openTable()
    const page = await openTouch(address)
    await button(page, 'Pay $30.80').tap()
    await button(page, 'Pay $30.80').tap()
    await receipt(page).waitFor()
    const lines = await page.locator('.receipt .totals > div').allInnerTexts()
    expect(lines.map((line) => line.split(/\s*\n\s*/))).toEqual([
      ['2 × Burger', '$20.00'],
      ['1 × Wine', '$5.00'],
      [`1 × ${dinner.items[2]?.name}`, '$3.00'],
      ['Tax', '$2.80'],
      ['Tip', '$0.00'],
      ['Paid', '$30.80'],
      ['Card', 'Test card •• 4242'],
    ])
  })
})
