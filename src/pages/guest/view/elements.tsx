import type { TableCheck } from '../../../model/guests/guest-table.ts'
import type { Actions, PageModel } from '../model.ts'

/** Props of every part of the guest page. */
export interface PartProps {
  model: PageModel
  actions: Actions
  money: (cents: number) => string
}

export interface CheckProps extends PartProps {
  check: TableCheck
  /** Position of the check on the page; makes ids and radio groups unique. */
  index: number
}

/** A name and an amount, in one row of a `dl`. */
export function Line({ name, amount, kind }: { name: string; amount: string; kind?: string }) {
  return (
    <div class={kind}>
      <dt>{name}</dt>
      <dd>{amount}</dd>
    </div>
  )
}

interface ChoiceProps {
  /** Name of the radio group. */
  group: string
  value: string
  checked: boolean
  text: string
  detail?: string
  /** Accessible name, when the text is not one. */
  label?: string
  choose: () => void
}

/** A radio button with a face that is large enough for a finger. */
export function Choice({ group, value, checked, text, detail, label, choose }: ChoiceProps) {
  return (
    <label class="choice">
      <input type="radio" name={group} value={value} checked={checked} aria-label={label} onChange={choose} />
      <span class="face">
        <span>{text}</span>
        {detail !== undefined && <span class="amount">{detail}</span>}
      </span>
    </label>
  )
}

interface ButtonProps {
  text: string
  /** `main` for the one primary button. */
  kind: string
  /** Accessible name, when the text is not one. */
  label?: string
  disabled?: boolean
  press: () => void
}

/** A button that keeps the focus while it is disabled. A double click opens the payment form, but does not pay. */
export function Button({ text, kind, label, disabled = false, press }: ButtonProps) {
  return (
    <button
      type="button"
      class={kind}
      aria-label={label}
      aria-disabled={disabled ? 'true' : undefined}
      aria-describedby={disabled ? 'connection' : undefined}
      onClick={({ detail }) => !disabled && (detail < 2 || kind !== 'main') && press()}
    >
      {text}
    </button>
  )
}

/** Returns true while the page cannot send a request: one is in flight, or the service cannot be reached. */
export function isBlocked({ busy, connection }: PageModel): boolean {
  return busy || connection !== 'live'
}

/** Returns a quantity with at most three decimals, in the reader's language. */
export function quantityText(quantity: number, language: string | undefined): string {
  return new Intl.NumberFormat(language, { maximumFractionDigits: 3 }).format(quantity)
}
