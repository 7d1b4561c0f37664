import type { RefuseRow } from './case.ts'
import { bytes, type Forge } from './forge.ts'

interface Malformed {
  id: string
  title: string
  reason: string
  /** The header's values, one request for each; `v1` is the right signature for `t` and the body. */
  values(given: { t: number; v1: string; signature: (t: number | string) => string }): readonly string[]
}

const UNREADABLE =
  'What cannot be read must not pass, and must not throw: a 5xx makes the service try again, and shows strangers where the receiver breaks.'

const tenWays: readonly Malformed[] = [
  { id: 'no_t', title: 'no t', reason: UNREADABLE, values: ({ v1 }) => [`v1=${v1}`] },
  { id: 'no_v1', title: 'no v1', reason: UNREADABLE, values: ({ t }) => [`t=${t}`] },
  {
    id: 'only_v0',
    title: 'the signature under v0',
    reason: 'Only v1 is agreed. A receiver that takes any scheme can be talked into the weakest.',
    values: ({ t, v1 }) => [`t=${t},v0=${v1}`],
  },
  {
    id: 'empty_t',
    title: 'an empty t, signed',
    reason: 'A time that is no number is compared with nothing: such a delivery would never expire.',
    values: ({ signature }) => [`t=,v1=${signature('')}`],
  },
  {
    id: 't_not_a_number',
    title: 't that is no number, signed',
    reason: 'A time that is no number is compared with nothing: such a delivery would never expire.',
    values: ({ signature }) => [`t=NaN,v1=${signature('NaN')}`, `t=soon,v1=${signature('soon')}`],
  },
  {
    id: 'two_t',
    title: 'an expired t that was signed, and a new one that was not',
    reason:
      'A receiver that verifies with one t and judges the age by the other takes recorded deliveries for ever.',
    values: ({ t, signature }) => {
      const old = t - 1_000_000
      return [`t=${old},v1=${signature(old)},t=${t}`, `t=${t},t=${old},v1=${signature(old)}`]
    },
  },
  {
    id: 'semicolons',
    title: 'semicolons for commas',
    reason: UNREADABLE,
    values: ({ t, v1 }) => [`t=${t};v1=${v1}`],
  },
  {
    id: 'bare_hex',
    title: 'the signature alone',
    reason: UNREADABLE,
    values: ({ v1 }) => [v1, `sha256=${v1}`],
  },
  {
    id: 'v1_not_hex',
    title: 'v1 of the right length, but no hex',
    reason: UNREADABLE,
    values: ({ t }) => [`t=${t},v1=${'z'.repeat(64)}`],
  },
  {
    id: 'v1_not_ascii',
    title: 'v1 with bytes beyond ASCII',
    reason: UNREADABLE,
    values: ({ t }) => [`t=${t},v1=${'é'.repeat(64)}`],
  },
]

/** Headers that are none, in ten ways. */
export const malformed: readonly RefuseRow[] = tenWays.map(({ id, title, reason, values }) => ({
  id: `malformed_${id}`,
  title: `A malformed header: ${title}`,
  reason,
  deliveries(forge: Forge) {
    const body = bytes(forge.envelope())
    const t = forge.now()
    const signature = (time: number | string) => forge.signature(body, time)
    return values({ t, v1: signature(t), signature }).map((value) => forge.delivery(body, value))
  },
}))
