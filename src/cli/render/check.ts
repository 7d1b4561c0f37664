import chalk from 'chalk'
import type { Check } from '../../model/check.ts'
import { formatTime, price, status, renderer } from './text.ts'
import { renderTable, renderFields } from './layout.ts'

/** Currencies of locations, by id. */
export type Currencies = Readonly<Record<string, string>>

export const renderChecks = renderer(
  (checks: readonly Check[], columns?: number, currencies: Currencies = {}): string => {
    const rows = checks.map((check) => [
      check.external_id,
      check.table.number,
      status(check.status),
      String(check.items.length),
      price(check.totals.total_cents, currencies[check.location_id]),
      price(check.balance_cents, currencies[check.location_id]),
      formatTime(check.updated_at),
    ])
    const headings = ['check', 'table', 'status', 'items', 'total', 'balance', 'updated (UTC)']
    return renderTable(headings, rows, 'No checks yet. Push one with: tabwire push --sample two-top', columns)
  },
)

/** A built-in sample, by the state that its last push leaves. */
interface SampleSummary {
  name: string
  purpose: string
  pushes: number
  items: number
  total_cents: number
}

/** Samples are pushed to the first location of a new service, which has this currency. */
const SAMPLE_CURRENCY = 'USD'

/** Below this width, the purpose of a sample is below its row. */
const WIDE_SAMPLES = 100

export const renderSamples = renderer(
  (samples: readonly SampleSummary[], columns: number | undefined = Infinity): string => {
    const isWide = columns >= WIDE_SAMPLES
    const rows = samples.map(({ name, pushes, items, total_cents, purpose }) => [
      name,
      String(pushes),
      String(items),
      price(total_cents, SAMPLE_CURRENCY),
      ...(isWide ? [purpose] : []),
    ])
    const headings = ['name', 'pushes', 'items', 'total', ...(isWide ? ['purpose'] : [])]
    const below = (index: number) => (isWide ? [] : [chalk.dim(`  ${samples[index]?.purpose ?? ''}`)])
    return renderTable(headings, rows, 'None.', columns, below)
  },
)

export const renderCheck = renderer((check: Check, columns?: number, currencies: Currencies = {}): string => {
  const money = (cents: number) => price(cents, currencies[check.location_id])
  const fields: [string, string][] = [
    ['check', `${check.external_id}  ${chalk.dim(check.id)}`],
    ['table', check.table.number],
    ['status', status(check.status)],
    ['revision', check.revision === null ? 'none' : String(check.revision)],
    ['subtotal', money(check.totals.subtotal_cents)],
    ['tax', money(check.totals.tax_cents)],
    ['total', money(check.totals.total_cents)],
    ['balance', money(check.balance_cents)],
    ['updated', `${formatTime(check.updated_at)} UTC`],
  ]
  return `${renderFields(fields, columns)}\n\n${renderItems(check, money, columns)}`
})

function renderItems(
  { items }: Check,
  money: (cents: number) => string,
  columns: number | undefined,
): string {
  const rows = items.map((item) => [
    String(item.quantity),
    item.name,
    money(item.price_cents),
    guestsText(item),
    item.note ?? '',
    // Last, since it is often long and says little to people.
    chalk.dim(item.external_id),
  ])
  return renderTable(['qty', 'name', 'each', 'guests', 'note', 'item'], rows, 'No items.', columns)
}

function guestsText({ claimed_quantity, paid_quantity }: Check['items'][number]): string {
  return claimed_quantity > 0 || paid_quantity > 0 ? `${claimed_quantity} claimed, ${paid_quantity} paid` : ''
}
