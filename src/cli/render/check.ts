import chalk from 'chalk'
import { type CheckChange, type FieldChange, fieldName, type ItemDiff } from '../../model/check-diff.ts'
import type { Check, CheckItem } from '../../model/check.ts'
import { cutTo, padTo, renderFields, renderTable, widthOf } from './layout.ts'
import { count } from '../../model/text/count.ts'
import { price, printable, renderer, status } from './text.ts'
import { formatTime } from '../../model/text/time.ts'

/** Currencies of locations, by id. */
export type Currencies = Readonly<Record<string, string>>

const NO_CHECKS = 'No checks yet. Push one with: tabwire push --sample two-top'

export const renderChecks = renderer(
  (
    checks: readonly Check[],
    columns?: number,
    currencies: Currencies = {},
    whenEmpty: string = NO_CHECKS,
  ): string => {
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
    return renderTable(headings, rows, whenEmpty, columns, undefined, true)
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

type Line = Pick<CheckItem, 'external_id' | 'name' | 'quantity' | 'price_cents'>

/** A line of the diff; `below` is text without a column. */
interface Row {
  sign: string
  quantity: string
  name: string
  price: string
  id: string
  below: readonly string[]
}

/** Longest name on a terminal, so that prices align. */
const MOST_NAME = 40

/** Renders a push's changes to the items: removed, added and changed ones, and how many are unchanged. */
export const renderItemDiff = renderer(
  (diff: ItemDiff, items: readonly Line[], columns: number, currency?: string): string[] => {
    const byId = new Map(items.map((item) => [item.external_id, item]))
    const rows = [
      ...diff.removed.map((item) => rowOf(chalk.red('-'), item, chalk.red, currency)),
      ...diff.added.map((item) => rowOf(chalk.green('+'), item, chalk.green, currency)),
      ...diff.changed.flatMap(({ external_id, changes }) => {
        const item = byId.get(external_id)
        return item === undefined ? [] : [changedRow(item, changes, currency)]
      }),
    ]
    const unchanged = diff.unchanged > 0 ? [`${count(diff.unchanged, 'item')} unchanged`] : []
    const reordered = diff.reordered === true ? ['the order of the items changed'] : []
    return [
      ...aligned(rows, columns),
      ...[...unchanged, ...reordered].map((text) => chalk.dim(`    ${text}`)),
    ]
  },
)

/** Renders a push's changes beside the items: `table 12 → 14`, `total 40.02 → 54.21`. */
export const renderCheckChanges = renderer((changes: readonly CheckChange[], currency?: string): string[] => {
  if (changes.length === 0) return []
  const listed = changes.map(({ field, from, to }) => {
    return `${fieldName(field)} ${arrow(shown(field, from, currency), shown(field, to, currency))}`
  })
  return [`  ${chalk.yellow('~')} ${listed.join(', ')}`]
})

function rowOf(
  sign: string,
  { external_id, name, quantity, price_cents }: Line,
  colour: typeof chalk,
  currency: string | undefined,
): Row {
  return {
    sign,
    quantity: colour(String(quantity)),
    name: colour(printable(name)),
    price: colour(price(price_cents, currency)),
    id: printable(external_id),
    below: [],
  }
}

function changedRow(item: Line, changes: readonly FieldChange[], currency: string | undefined): Row {
  const change = (field: FieldChange['field']) => {
    const found = changes.find((one) => one.field === field)
    return found === undefined
      ? undefined
      : arrow(shown(field, found.from, currency), shown(field, found.to, currency))
  }
  const note = change('note')
  return {
    sign: chalk.yellow('~'),
    quantity: change('quantity') ?? String(item.quantity),
    name: change('name') ?? printable(item.name),
    price: change('price_cents') ?? price(item.price_cents, currency),
    id: printable(item.external_id),
    below: note === undefined ? [] : [`note ${note}`],
  }
}

function aligned(rows: readonly Row[], columns: number): string[] {
  const widest = (cells: readonly string[]) => Math.max(0, ...cells.map(widthOf))
  const quantity = widest(rows.map((row) => row.quantity))
  const prices = widest(rows.map((row) => row.price))
  const natural = widest(rows.map((row) => row.name))
  // Sign, quantity and price have fixed widths; a name gets the rest of the line, up to a bound.
  const room = columns - quantity - prices - '  +  ×   '.length
  const name = columns === Infinity ? natural : Math.min(natural, Math.max(Math.min(room, MOST_NAME), 8))
  const left = room - name - '  '.length
  return rows.flatMap((row) => [
    `  ${row.sign} ${padBefore(quantity, row.quantity)} × ${padTo(name, cutTo(name, row.name))}  ${padBefore(prices, row.price)}${identifier(row.id, left)}`,
    ...row.below.map((text) => `      ${text}`),
  ])
}

function identifier(id: string, room: number): string {
  return room < 6 ? '' : `  ${chalk.dim(cutTo(room, id))}`
}

function padBefore(width: number, text: string): string {
  return ' '.repeat(Math.max(width - widthOf(text), 0)) + text
}

function arrow(from: string, to: string): string {
  return `${chalk.red(from)} → ${chalk.green(to)}`
}

function shown(field: string, value: string | number | null, currency: string | undefined): string {
  if (value === null) return 'none'
  return field.endsWith('_cents') ? price(Number(value), currency) : printable(String(value)) || '""'
}
