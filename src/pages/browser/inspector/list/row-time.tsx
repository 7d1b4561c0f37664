import { serviceNow } from '../clock.tsx'

/** The time of a row in UTC, with its date when the rows of the list are of different days. */
export function RowTime({ at, dates }: { at: string; dates: Dates }) {
  return (
    <time class="moment" dateTime={at} title={at}>
      {at.slice({ none: 11, days: 5, years: 0 }[dates], 19).replace('T', ' ')}
    </time>
  )
}

/** Part of the dates that rows show: none when all rows are of the current day. */
export type Dates = 'none' | 'days' | 'years'

/** Returns the part of the date in which these times and the service's time differ. */
export function datesOf(times: readonly string[]): Dates {
  const all = [...times, new Date(serviceNow.value).toISOString()]
  const differ = (length: number) => new Set(all.map((time) => time.slice(0, length))).size > 1
  if (differ(4)) return 'years'
  return differ(10) ? 'days' : 'none'
}
