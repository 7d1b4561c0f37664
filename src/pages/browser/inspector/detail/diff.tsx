import type { ItemDiff } from '../../../../model/check-diff.ts'
import { money } from '../money-text.ts'

type Item = ItemDiff['added'][number]

/** What a push did to the items of a check, as a diff is read. */
export function Diff({ diff }: { diff: ItemDiff }) {
  return (
    <ul class="diff">
      {diff.removed.map((item) => (
        <Line key={item.external_id} sign="−" word="removed" text={itemText(item)} />
      ))}
      {diff.changed.map(({ external_id, name, changes }) => (
        <Line
          key={external_id}
          sign="~"
          word="changed"
          text={`${name}: ${changes.map(({ field, from, to }) => `${field} ${valueText(field, from)} → ${valueText(field, to)}`).join(', ')}`}
        />
      ))}
      {diff.added.map((item) => (
        <Line key={item.external_id} sign="+" word="added" text={itemText(item)} />
      ))}
      {diff.unchanged > 0 && <Line sign=" " word="same" text={`${diff.unchanged} unchanged`} />}
    </ul>
  )
}

function Line({ sign, word, text }: { sign: string; word: string; text: string }) {
  return (
    <li class={word}>
      <span aria-hidden="true">{sign}</span>
      <span class="spoken">{word} </span>
      {text}
    </li>
  )
}

function itemText({ name, quantity, price_cents, note }: Item): string {
  return `${quantity} × ${name}, ${money.value(price_cents)}${note === null || note === '' ? '' : ` (${note})`}`
}

function valueText(field: string, value: string | number | null): string {
  if (value === null || value === '') return 'none'
  return field === 'price_cents' ? money.value(Number(value)) : String(value)
}
