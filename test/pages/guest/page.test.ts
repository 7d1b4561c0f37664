import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { barriers } from '../../support/barriers.ts'
import { isSoak } from '../../soak/seeded.ts'
import { hasBrowser, inBrowser, openPhone } from '../../support/browser.ts'
import { item, openSimulator, temporaryDirectory } from '../../support/simulator.ts'
import { button, dinner, openTable, receipt, shown } from './guest-page-fixtures.ts'

describe.skipIf(!hasBrowser)(`the guest page ${inBrowser}`, () => {
  it('lets two guests claim, pay and rate on two phones while the POS pushes', async () => {
    const { address, client, push } = await openTable()
    const [ann, bob] = [await openPhone(address), await openPhone(address, { colorScheme: 'dark' })]
    await ann.getByLabel('Your name').fill('Ann')
    await bob.getByLabel('Your name').fill('Bob')
    await button(ann, 'I had this: 1 Burger').click()
    await shown(bob, 'Ann · 1')
    await button(bob, 'I had this: 1 Wine').click()
    await shown(ann, 'Bob · 1')
    await shown(ann, 'Your share, including $1.00 tax and charges')
    const items = [...dinner.items, item('cake', { name: 'Cake', price_cents: 700 })]
    const totals = { subtotal_cents: 3500, tax_cents: 350, total_cents: 3850 }
    await push('a', { ...dinner, items, totals })
    await shown(ann, 'Cake')
    await shown(bob, 'Cake')
    await button(ann, 'Pay $11.00').click()
    await ann.getByRole('radio', { name: '20%' }).check()
    await button(ann, 'Pay $13.20').click()
    await receipt(ann).waitFor()
    await shown(bob, 'Ann · 1 · paid')
    await shown(bob, 'Paid by others')
    await ann.getByRole('radio', { name: '5 stars' }).check()
    await ann.getByLabel('Comment (optional)').fill('Lovely')
    await button(ann, 'Send rating').click()
    await shown(ann, 'Thank you for your rating')
    await button(bob, 'Split').click()
    await bob.getByRole('radio', { name: /Pay the rest/ }).check()
    await button(bob, 'Pay $27.50').click()
    for (const page of [ann, bob]) await shown(page, 'This check is fully paid. Thank you!')

    expect((await client.payments.list()).data).toMatchObject([
      { guest_name: 'Bob', amount_cents: 2750, tip_cents: 0 },
      { guest_name: 'Ann', amount_cents: 1100, tip_cents: 220 },
    ])
    expect((await client.feedback.list()).data).toMatchObject([
      { guest_name: 'Ann', rating: 5, comment: 'Lovely' },
    ])
    expect((await client.events.list({ type: 'check.fully_paid' })).data).toHaveLength(1)
    for (const page of isSoak ? [ann, bob] : [ann]) expect(await barriers(page)).toEqual([])
  })

  it.runIf(isSoak)('leaves the name of an item room beside a quantity of six digits', async () => {
    const water = item('water', { name: 'Water', quantity: 123_456, price_cents: 100 })
    const totals = { subtotal_cents: 12_345_600, tax_cents: 0, total_cents: 12_345_600 }
    const { address } = await openTable({}, { ...dinner, items: [water], totals })
    const page = await openPhone(address)
    await button(page, 'I had all 123,456 Water').waitFor()
    const box = await page.getByText('Water', { exact: true }).boundingBox()
    expect(box?.width).toBeGreaterThan(2 * (box?.height ?? 0))
  })

  it.runIf(isSoak)('shows amounts to a browser with a language that no formatter accepts', async () => {
    const { address } = await openTable()
    const page = await openPhone(address)
    await page.addInitScript("Object.defineProperty(navigator, 'language', { value: 'C' })")
    await page.reload()
    await button(page, 'Pay $30.80').waitFor()
  })

  it('keeps focus, caret and typed text while events come in', async () => {
    const { address, client, push } = await openTable()
    const page = await openPhone(address)
    await button(page, 'I had this: 1 Wine').click()
    await button(page, 'Pay $5.50').click()
    await page.getByRole('radio', { name: 'Other' }).check()
    const tip = page.getByLabel('Tip amount')
    await tip.fill('12.5')
    await tip.press('ArrowLeft')
    await client.guests.claim('a', { guest_name: 'Bob', items: [{ external_id: 'burger', quantity: 1 }] })
    await shown(page, 'Bob · 1')
    const items = [item('soup', { name: 'Soup', price_cents: 700 }), ...dinner.items]
    const totals = { subtotal_cents: 3500, tax_cents: 350, total_cents: 3850 }
    await push('a', { ...dinner, items, totals })
    await push('b')
    await button(page, 'Check 1 of 2').waitFor()
    await page.keyboard.type('7')
    const focused = page.getByRole('article', { name: 'Check 2 of 2' }).locator('input:focus')
    expect(await focused.inputValue()).toBe('12.75')
    expect(await page.evaluate<number>('document.activeElement.selectionStart')).toBe(4)
    await button(page, 'Pay $18.25').waitFor()
  })

  it.runIf(isSoak)('keeps the elements that the service rendered when the script starts', async () => {
    const { address } = await openTable()
    const page = await openPhone(address)
    // Before the first read has come back, after which the script renders.
    await page.addInitScript(`addEventListener('DOMContentLoaded', () => {
      window.rendered = [...document.querySelectorAll('h1, .dish, .totals')]
    })`)
    await page.reload()
    await button(page, 'I had this: 1 Wine').waitFor()
    expect(await page.evaluate('window.rendered.length')).toBe(5)
    expect(await page.evaluate('window.rendered.every(({ isConnected }) => isConnected)')).toBe(true)
  })

  it('sends at most 15.7 kB compressed: page, script and style', async () => {
    const { address } = await openTable()
    const page = await (await fetch(address)).text()
    const paths = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
    const assets = paths.map(async (path) => (await fetch(new URL(path, address))).text())
    // The service has the assets in brotli; the page differs per table.
    const parts = [page, ...(await Promise.all(assets))]
    expect(parts).toHaveLength(3)
    const sizes = parts.map((part, index) => (index === 0 ? gzipSync(part) : brotliCompressSync(part)).length)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(15_700)
  })

  it('shows texts of a POS and of guests as text', async () => {
    const { address } = await openTable()
    const page = await openPhone(address)
    page.on('dialog', () => expect.fail('A text was run.'))
    await page.getByLabel('Your name').fill('<b>Ann</b>')
    await button(page, 'I had this: 1 <script>alert(1)</script>').click()
    await shown(page, 'You · 1')
    expect(await page.locator('.dish').allTextContents()).toContain('<script>alert(1)</script>')
    const other = await openPhone(address)
    await shown(other, '<b>Ann</b> · 1')
    expect(await other.locator('main script, main img, main b').count()).toBe(0)
  })

  it.runIf(isSoak)(
    'names the guest who claimed an item first, at the item, until the next action',
    async () => {
      const { address, client } = await openTable()
      const page = await openPhone(address)
      await page.route('**/claims', async (route) => {
        await client.guests.claim('a', { guest_name: 'Bob', items: [{ external_id: 'wine', quantity: 1 }] })
        await route.continue()
      })
      await button(page, 'I had this: 1 Wine').click()
      const wine = page.getByRole('listitem').filter({ hasText: 'Bob · 1' }).first()
      await wine.getByText('Bob just took the Wine.').waitFor()
      await page.locator('[role=status]').getByText('Bob just took the Wine.').waitFor({ state: 'attached' })
      expect(await button(page, 'I had this: 1 Wine').count()).toBe(0)
      expect(await barriers(page)).toEqual([])
      await button(page, 'Split').click()
      await wine.getByText('Bob just took the Wine.').waitFor({ state: 'detached' })
    },
  )

  it('pays nothing when the amount changed since it was shown, or when the card is declined', async () => {
    const { address, client, push } = await openTable()
    const page = await openPhone(address)
    await button(page, 'I had this: 1 Wine').click()
    await button(page, 'Pay $5.50').click()
    await page.getByRole('radio', { name: /declined/ }).check()
    await button(page, 'Pay $5.50').click()
    await page.getByRole('alert').getByText('Your card was declined').waitFor()
    await page.getByRole('radio', { name: /approved/ }).check()
    await page.route('**/payments', async (route) => {
      await push('a', { ...dinner, totals: { subtotal_cents: 2800, tax_cents: 2800, total_cents: 5600 } })
      await route.continue()
    })
    await button(page, 'Pay $5.50').click()
    await page.getByRole('alert').getByText('You have not paid. Please check the new amount.').waitFor()
    expect((await client.payments.list()).data).toEqual([])
    await button(page, 'Pay $10.00').click()
    await receipt(page).waitFor()
  })

  it.runIf(isSoak)('splits a check evenly, and the shares add up', async () => {
    const { address, client } = await openTable()
    for (const amount of ['$10.26', '$10.26', '$10.28']) {
      const page = await openPhone(address)
      await button(page, 'Split').click()
      await page.getByRole('radio', { name: /Split evenly/ }).check()
      await button(page, 'More people').click()
      await button(page, `Pay ${amount}`).click()
      await receipt(page).waitFor()
    }
    expect(await client.checks.get('a')).toMatchObject({ paid_cents: 3080, balance_cents: 0 })
  })

  it('can be used with the keyboard only, and keeps the focus', async () => {
    const { address } = await openTable()
    const page = await openPhone(address)
    const focused = () =>
      page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.textContent')
    await page.getByLabel('Your name').focus()
    for (const name of ['I had this: 1 Burger', 'I had this: 1 Wine']) {
      await page.keyboard.press('Tab')
      expect(await focused()).toBe(name)
    }
    await page.keyboard.press('Enter')
    await shown(page, 'You · 1')
    await page.locator(':focus[aria-label="Remove Wine"]').waitFor()
    await page.keyboard.press('Space')
    await page.locator(':focus[aria-label="I had this: 1 Wine"]').waitFor()
    await button(page, 'Split').press('Enter')
    await page.locator('.pay h2:focus').waitFor()
    await page.getByRole('radio', { name: /Split evenly/ }).focus()
    await page.keyboard.press('ArrowDown')
    await button(page, 'Pay $30.80').press('Enter')
    await page.locator('.receipt h2:focus').waitFor()
  })

  it.runIf(isSoak)('remembers its guest after a reload, and only on the same phone', async () => {
    const { address } = await openTable()
    const page = await openPhone(address)
    await page.getByLabel('Your name').fill('Ann')
    await button(page, 'I had this: 1 Wine').click()
    await shown(page, 'You · 1')
    await page.reload()
    await shown(page, 'You · 1')
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ann')
    const other = await openPhone(address)
    await shown(other, 'Ann · 1')
    expect(await button(other, 'Remove Wine').count()).toBe(0)
  })

  it('keeps the rating of another tab when the name changes', async () => {
    const { address } = await openTable()
    const page = await openPhone(address)
    const other = await page.context().newPage()
    await other.goto(address)
    await button(other, 'Pay $30.80').click()
    await button(other, 'Pay $30.80').click()
    await other.getByRole('radio', { name: '5 stars' }).check()
    await button(other, 'Send rating').click()
    await shown(other, 'Thank you for your rating')
    await page.getByLabel('Your name').fill('Ann')
    await page.reload()
    await shown(page, 'Thank you for your rating')
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ann')
  })

  it('is readable without JavaScript', async () => {
    const { address, client } = await openTable()
    await client.guests.claim('a', { guest_name: 'Ann', items: [{ external_id: 'wine', quantity: 1 }] })
    const page = await openPhone(address, { javaScriptEnabled: false })
    await page.getByRole('heading', { name: 'Table 12' }).waitFor()
    for (const text of ['Burger', 'Ann · 1', '$30.80']) await shown(page, text)
    await page.locator('.note').waitFor()
    expect(await page.getByRole('button').count()).toBe(0)
  })

  it.runIf(isSoak)('shows a lost connection, and updates after reconnecting', async () => {
    const dataDirectory = await temporaryDirectory()
    const first = await openTable({ dataDirectory })
    const page = await openPhone(first.address)
    await button(page, 'I had this: 1 Wine').click()
    await shown(page, 'You · 1')
    await first.close()
    await shown(page, 'Reconnecting…')
    const second = await openSimulator({ dataDirectory, port: first.port })
    await second.push('b')
    await button(page, 'Check 1 of 2').waitFor()
    await page.getByText('Reconnecting…').waitFor({ state: 'detached' })
    await page.getByRole('alert').getByText('You are back online. There is a new check.').waitFor()
    await shown(page, 'You · 1')
  })

  it.runIf(isSoak)('opens on a phone by the address of the machine', async () => {
    const { address } = await openTable({ host: '0.0.0.0' })
    const page = await openPhone(address)
    await button(page, 'I had this: 1 Wine').click()
    await shown(page, 'You · 1')
  })

  it.runIf(isSoak)('shows an empty table until the first push', async () => {
    const { client, push } = await openSimulator()
    const page = await openPhone((await client.tables.address('12')).url)
    await shown(page, 'No check yet')
    expect(await barriers(page)).toEqual([])
    await push('a')
    await button(page, 'I had this: 1 A burger').waitFor()
  })
})
