import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { describe, expect, it } from 'vitest'
import type { TableCheck, TableClaim, TableView } from '../../../src/model/guests/guest-table.ts'
import { initialModel, noActions, type PageModel, ratingKey } from '../../../src/pages/guest/model.ts'
import { Table } from '../../../src/pages/guest/view/table.tsx'
import { renderer } from '../../../src/pages/render.tsx'

const assets = { script: '/assets/guest.js', style: '/assets/guest.css' }
const evil = `<script>alert('1')</script>"><img src=x onerror=alert(2)>&amp;`

function tableCheck(changes: Partial<TableCheck> = {}): TableCheck {
  return {
    external_id: 'a',
    status: 'open',
    items: [
      {
        external_id: 'w',
        name: 'Wine',
        quantity: 2,
        price_cents: 500,
        note: null,
        claimed_quantity: 1,
        paid_quantity: 0,
      },
    ],
    totals: { subtotal_cents: 1000, tax_cents: 100, total_cents: 1100 },
    paid_cents: 0,
    balance_cents: 1100,
    even_split_cents: 1100,
    created_at: '2026-11-21T18:00:00.000Z',
    updated_at: '2026-11-21T18:00:00.000Z',
    closed_at: null,
    claims: [
      {
        id: 'clm_1',
        guest_name: 'Ann',
        items: [{ external_id: 'w', quantity: 1, price_cents: 500 }],
        amount_cents: 550,
        status: 'active',
        payment_id: null,
        created_at: '2026-11-21T18:00:00.000Z',
        mine: true,
      },
    ],
    payments: [],
    ...changes,
  }
}

function view(checks: readonly TableCheck[] = [tableCheck()], currency = 'USD'): TableView {
  return { table: { number: '12' }, location: { name: 'The Copper Pan', currency, timezone: 'UTC' }, checks }
}

function rendered(changes: Partial<PageModel> = {}, ...checks: TableCheck[]): string {
  const model = initialModel(view(checks.length > 0 ? checks : undefined), 'en-US')
  return renderToString(h(Table, { model: { ...model, interactive: true, ...changes }, actions: noActions }))
}

describe('the guest page that the service renders', () => {
  it('escapes every text of a POS or a guest', () => {
    const { items, claims } = tableCheck()
    const check = tableCheck({
      external_id: evil,
      items: items.map((item) => ({ ...item, name: evil, note: evil })),
      claims: claims.map((claim) => ({ ...claim, mine: false, guest_name: evil })),
      payments: [
        {
          id: 'pay_1',
          guest_name: evil,
          claim_ids: [],
          amount_cents: 1,
          tip_cents: null,
          refunded_cents: 0,
          created_at: '2026-11-21T18:00:00.000Z',
          mine: false,
        },
      ],
    })
    const sent = {
      table: { number: evil },
      location: { name: evil, currency: evil, timezone: evil },
      checks: [check, check],
    }
    const page = renderer.table(sent, assets, 'en-US')
    expect(page.match(/<script/g)).toHaveLength(1)
    expect(page).not.toContain('<img')
    expect(rendered({ view: sent })).not.toMatch(/<script|<img|[^;]"><img/)
  })

  it('is readable, without buttons and fields', () => {
    const page = renderer.table(view(), assets, 'en-US')
    expect(page).not.toMatch(/<(button|input|textarea)/)
    for (const text of ['Table 12', 'Wine', 'You · 1', '$11.00', '<noscript>']) expect(page).toContain(text)
  })

  it('shows a plain page for an address that belongs to no table', () => {
    expect(renderer.noTable(assets)).toContain('Table not found')
  })

  it('has no inline script or style, which its Content-Security-Policy forbids', () => {
    expect(renderer.table(view(), assets, undefined)).not.toMatch(
      /<style|style=|<script(?! type="module" src=)| on\w+=/,
    )
  })
})

/** Rows of the receipt for claimed items, as the guest reads them. */
function receiptOf(
  items: TableClaim['items'],
  amount_cents: number,
  [subtotal_cents, tax_cents, total_cents]: readonly [number, number, number],
): string[] {
  const claims = tableCheck().claims.map((claim) => ({
    ...claim,
    items,
    amount_cents,
    status: 'paid' as const,
    payment_id: 'pay_1',
  }))
  const payment = {
    id: 'pay_1',
    guest_name: 'Ann',
    claim_ids: ['clm_1'],
    amount_cents,
    tip_cents: 0,
    refunded_cents: 0,
    created_at: '2026-11-21T18:00:00.000Z',
    mine: true,
  }
  const totals = { subtotal_cents, tax_cents, total_cents }
  const page = rendered({}, tableCheck({ claims, totals, payments: [payment] }))
  const rows = page.slice(page.indexOf('Your receipt')).matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/g)
  return [...rows].map(([, name, amount]) => `${name} ${amount}`)
}

describe('the interactive guest page', () => {
  it('adds up the items of the guest with their share of the tax', () => {
    const page = rendered()
    expect(page).toContain('Your share, including $0.50 tax and charges')
    expect(page).toContain('Pay $5.50')
  })

  it('counts a price that was raised after the claim as a price, not as tax', () => {
    const items = tableCheck().items.map((item) => ({ ...item, price_cents: 600 }))
    const claims = tableCheck().claims.map((claim) => ({ ...claim, amount_cents: 600 }))
    const totals = { subtotal_cents: 1200, tax_cents: 0, total_cents: 1200 }
    const raised = tableCheck({ items, claims, totals })
    for (const page of [rendered({}, raised), rendered({ form: true }, raised)]) {
      expect(page).toContain('Pay $6.00')
      expect(page).not.toContain('tax and charges')
    }
  })

  it('does not call a discount a tax', () => {
    const claims = tableCheck().claims.map((claim) => ({ ...claim, amount_cents: 400 }))
    const discounted = tableCheck({ claims })
    const [bar, form] = [rendered({}, discounted), rendered({ form: true }, discounted)]
    expect(bar).toContain('Your share, after adjustments of -$1.00')
    expect(form).toContain('Adjustments')
    for (const page of [bar, form]) expect(page).not.toContain('tax and charges')
  })

  it('names what a receipt has besides its items by the cause', () => {
    const wine = [{ external_id: 'w', quantity: 1, price_cents: 500 }]
    const third = [{ external_id: 'w', quantity: 0.333, price_cents: 1000 }]
    const rest = (...given: Parameters<typeof receiptOf>) => receiptOf(...given)[1]
    expect(rest(wine, 550, [500, 50, 550])).toBe('Tax $0.50')
    expect(rest(wine, 600, [500, 50, 600])).toBe('Tax and charges $1.00')
    expect(rest(wine, 600, [600, 0, 600])).toBe('Adjustments $1.00')
    expect(rest(wine, 660, [600, 60, 660])).toBe('Tax and adjustments $1.60')
    expect(rest(third, 334, [1000, 0, 1000])).toBe('Rounding $0.01')
  })

  it('shows no tax on a receipt whose rounded lines add up', () => {
    const lines = ['a', 'b', 'c'].map((external_id) => ({ external_id, quantity: 0.35, price_cents: 999 }))
    expect(receiptOf(lines, 1050, [1050, 0, 1050])).toEqual([
      ...lines.map(({ external_id }) => `0.35 × ${external_id} $3.50`),
      'Tip $0.00',
      'Paid $10.50',
      'Card Test card •• 4242',
    ])
  })

  it('shows an item that was claimed in steps as one line per price', () => {
    const lines = [500, 500, 600].map((price_cents) => ({ external_id: 'w', quantity: 1, price_cents }))
    expect(receiptOf(lines, 1600, [1600, 0, 1600]).slice(0, 2)).toEqual(['2 × Wine $10.00', '1 × Wine $6.00'])
  })

  it('isolates the name of a guest who had an item', () => {
    const claims = tableCheck().claims.map((claim) => ({ ...claim, mine: false, guest_name: '\u202eדנה' }))
    expect(rendered({}, tableCheck({ claims }))).toContain('\u2068דנה\u2069 · 1')
  })

  it('asks for a tip with the decimals of the currency', () => {
    const tip = { typed: '' }
    expect(rendered({ form: true, tip })).toContain('placeholder="0.00"')
    expect(rendered({ form: true, tip, view: view(undefined, 'JPY') })).toContain('placeholder="0"')
  })

  it('expands a check without items when no check has a balance', () => {
    const seated = tableCheck({ items: [], claims: [], balance_cents: 0 })
    expect(rendered({}, seated)).toContain('No items yet.')
    expect(rendered({}, seated, tableCheck({ external_id: 'b' }))).not.toContain('No items yet.')
    expect(rendered({}, { ...seated, paid_cents: 1100 })).not.toContain('No items yet.')
  })

  it('expands a check that costs nothing', () => {
    const free = tableCheck({ paid_cents: 0, balance_cents: 0 })
    expect(rendered({}, free)).toContain('Wine')
    expect(rendered({}, { ...free, status: 'closed' })).not.toContain('Wine')
  })

  it('offers no claim on a closed check, a discount or a fully claimed item', () => {
    expect(rendered()).toContain('Add 1 Wine')
    expect(rendered({}, tableCheck({ status: 'closed' }))).not.toContain('Add 1 Wine')
    const [wine] = tableCheck().items
    if (wine === undefined) return expect.fail()
    expect(rendered({}, tableCheck({ items: [{ ...wine, price_cents: -100 }] }))).not.toContain('Add 1 Wine')
    expect(rendered({}, tableCheck({ items: [{ ...wine, claimed_quantity: 2 }] }))).not.toContain(
      'Add 1 Wine',
    )
  })

  it('offers the rest of an item when less than one unit is left', () => {
    const [wine] = tableCheck().items
    if (wine === undefined) return expect.fail()
    expect(rendered({}, tableCheck({ items: [{ ...wine, quantity: 1.45 }] }))).toContain('Add 0.45 Wine')
  })

  it('shows the stars of a rating at the check that is rated', () => {
    const paid = (external_id: string) => tableCheck({ external_id, paid_cents: 1100, balance_cents: 0 })
    const stars = (html: string) => html.split('★').length - 1
    const checks = [paid('a'), paid('b')]
    const [rated] = checks
    if (rated === undefined) return expect.fail('There is no check.')
    expect(stars(rendered({ rates: ratingKey(rated), rating: 4 }, ...checks))).toBe(4)
    expect(stars(rendered({}, ...checks))).toBe(0)
  })

  it('offers one rating after a payment', () => {
    const paid = tableCheck({ paid_cents: 1100, balance_cents: 0 })
    expect(rendered()).not.toContain('How was your meal?')
    expect(rendered({}, paid)).toContain('How was your meal?')
    const rated = [ratingKey(paid)]
    expect(rendered({ rated }, paid)).not.toContain('How was your meal?')
    const later = { ...paid, created_at: '2026-11-22T18:00:00.000Z' }
    expect(rendered({ rated }, later)).toContain('How was your meal?')
    expect(rendered({}, paid)).toContain('This check is fully paid')
  })

  it.each([
    ['offline', 'You are offline'],
    ['reconnecting', 'Reconnecting…'],
  ] as const)('shows that the page is %s', (connection, text) => {
    expect(rendered({ connection })).toContain(text)
    expect(rendered()).not.toContain(text)
  })

  it('does not offer a payment with an invalid tip', () => {
    const german = { form: true, language: 'de' } as const
    expect(rendered({ ...german, tip: { typed: '1.234,50' } })).toContain('Enter a valid tip')
    expect(rendered({ ...german, tip: { typed: '1.234,50' } })).toContain('Enter an amount such as 2,50')
    expect(rendered({ ...german, tip: { typed: '2,50' } })).not.toContain('such as')
  })
})
