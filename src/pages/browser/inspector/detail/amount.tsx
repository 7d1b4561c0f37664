import { digitsOf } from '../../../../model/text/money.ts'
import { session } from '../api.ts'

interface AmountFieldProps {
  label: string
  placeholder: string
  typed: string
  onType: (text: string) => void
}

/** A field for an amount in the currency of the session's location. */
export function AmountField({ label, placeholder, typed, onType }: AmountFieldProps) {
  return (
    <label>
      <span>{label}</span>
      <input
        type="text"
        inputMode="decimal"
        placeholder={placeholder}
        aria-invalid={typed.trim() !== '' && centsOf(typed) === undefined}
        value={typed}
        onInput={(event) => onType(event.currentTarget.value)}
      />
    </label>
  )
}

/** Parses a typed amount into minor units; `undefined` unless it is a positive amount. */
export function centsOf(typed: string): number | undefined {
  const { location = null } = typeof session.value === 'string' ? {} : session.value
  const value = Number(typed.trim().replace(',', '.'))
  const cents = Math.round(value * 10 ** digitsOf(location?.currency ?? ''))
  return typed.trim() !== '' && Number.isSafeInteger(cents) && cents > 0 ? cents : undefined
}
