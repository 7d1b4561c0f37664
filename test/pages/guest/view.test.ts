import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { describe, expect, it } from 'vitest'
import type { TableCheck, TableView } from '../../../src/model/guest-table/view.ts'
import { initialModel, noActions, type PageModel } from '../../../src/pages/guest/model.ts'
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

function drawn(changes: Partial<PageModel> = {}, ...checks: TableCheck[]): string {
  const model = initialModel(view(checks.length > 0 ? checks : undefined), 'en-US')
  return renderToString(h(Table, { model: { ...model, interactive: true, ...changes }, actions: noActions }))
}

describe('the page as the service writes it', () => {
  it('escapes everything that a POS or a guest has sent', () => {
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
    expect(drawn({ view: sent })).not.toMatch(/<script|<img|[^;]"><img/)
  })

  it('is there to be read: no button, no field', () => {
    const page = renderer.table(view(), assets, 'en-US')
    expect(page).not.toMatch(/<(button|input|textarea)/)
    for (const text of ['Table 12', 'Wine', 'You · 1', '$11.00', '<noscript>']) expect(page).toContain(text)
  })

  it('says no more of an address that is no table than that', () => {
    expect(renderer.noTable(assets)).toContain('There is no table here')
  })

  it('has no script or style of its own in its text, which its policy forbids', () => {
    expect(renderer.table(view(), assets, undefined)).not.toMatch(
      /<style|style=|<script(?! type="module" src=)| on\w+=/,
    )
  })
})

describe('the page as a guest sees it', () => {
  it('adds up what the guest took, with its share of the tax', () => {
    const page = drawn()
    expect(page).toContain('your share, $0.50 of it tax and charges')
    expect(page).toContain('Pay $5.50')
  })

  it('offers nothing to take of a closed check, a discount or what is gone', () => {
    expect(drawn()).toContain('Take 1 Wine')
    expect(drawn({}, tableCheck({ status: 'closed' }))).not.toContain('Take 1 Wine')
    const [wine] = tableCheck().items
    if (wine === undefined) return expect.fail()
    expect(drawn({}, tableCheck({ items: [{ ...wine, price_cents: -100 }] }))).not.toContain('Take 1 Wine')
    expect(drawn({}, tableCheck({ items: [{ ...wine, claimed_quantity: 2 }] }))).not.toContain('Take 1 Wine')
  })

  it('takes what is left of a part when less than one is left', () => {
    const [wine] = tableCheck().items
    if (wine === undefined) return expect.fail()
    expect(drawn({}, tableCheck({ items: [{ ...wine, quantity: 1.45 }] }))).toContain('Take 0.45 Wine')
  })

  it('asks for a rating once something was paid, and once', () => {
    const paid = tableCheck({ paid_cents: 1100, balance_cents: 0 })
    expect(drawn()).not.toContain('How was it?')
    expect(drawn({}, paid)).toContain('How was it?')
    expect(drawn({ rated: ['a'] }, paid)).not.toContain('How was it?')
    expect(drawn({}, paid)).toContain('All paid')
  })

  it.each([
    ['offline', 'You are offline'],
    ['reconnecting', 'Reconnecting…'],
  ] as const)('says that it is %s', (connection, text) => {
    expect(drawn({ connection })).toContain(text)
    expect(drawn()).not.toContain(text)
  })

  it('does not pay with a tip that is no amount', () => {
    expect(drawn({ tip: { typed: 'lots' } })).toContain('Check the tip')
  })
})
