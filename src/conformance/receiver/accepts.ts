import { eventTypes } from '../../model/event.ts'
import { isGood, told, type ReceiverCase, type Row } from './case.ts'
import { bytes, type Forge } from './forge.ts'
import { oddForms } from './odd-forms.ts'
import type { Answer, Delivery } from './send.ts'

interface AcceptRow extends Row {
  /** Genuine deliveries, each to be answered 2xx. */
  deliveries(forge: Forge): readonly Delivery[]
  /** All at once, rather than one after the other. */
  parallel?: true
}

/** One mebibyte, which a check of a long evening with all its guests does not reach. */
const LARGE = 1_048_576

const rows: readonly AcceptRow[] = [
  ...eventTypes.map((type): AcceptRow => ({
    id: `event_${type.replace('.', '_')}`,
    title: `${type} is taken`,
    reason:
      'An endpoint gets what it registered for. What is refused comes back for 35 hours, and is then lost.',
    deliveries: (forge) => [forge.genuine(bytes(forge.envelope(type)))],
  })),
  ...oddForms.map(({ id, title, write }): AcceptRow => ({
    id,
    title,
    reason:
      'The signature is over the bytes. A receiver that parses the body and writes it out again refuses genuine deliveries as soon as one is written otherwise: verify the raw body (specification section 5).',
    deliveries: (forge) => [forge.genuine(Buffer.from(write(forge.envelope())))],
  })),
  {
    id: 'non_ascii',
    title: 'Names in many scripts, in UTF-8',
    reason:
      'The body was decoded with the wrong charset before it was verified: the first guest called Zoë is lost.',
    deliveries: (forge) => [
      forge.genuine(bytes({ ...forge.envelope(), data: { name: 'Zoë 明子 مريم 🍷 \u2028' } })),
    ],
  },
  {
    id: 'one_mebibyte',
    title: 'A body of 1 MiB',
    reason: 'The limit of the body parser is too low: the largest tables are the ones whose payment is lost.',
    deliveries: (forge) => [forge.genuine(large(forge))],
  },
  {
    id: 'just_in_time_past',
    title: 'Signed one second within the tolerance ago',
    reason:
      'The tolerance is narrower than agreed: deliveries that were on their way for long, or clocks that differ, are refused.',
    deliveries: (forge) => [signedAt(forge, 1 - forge.tolerance)],
  },
  {
    id: 'just_in_time_future',
    title: 'Signed by a clock that is ahead, one second within the tolerance',
    reason: 'No two clocks agree. A receiver whose own is a little slow refuses everything.',
    deliveries: (forge) => [signedAt(forge, forge.tolerance - 1)],
  },
  {
    id: 'duplicates',
    title: 'One event three times',
    reason:
      'Delivery is at least once. A duplicate that is refused is sent again, six times, and counts towards disabling the endpoint: answer 2xx and do nothing.',
    deliveries: (forge) => {
      const body = bytes(forge.envelope())
      return [0, 1, 2].map(() => forge.genuine(body))
    },
  },
  {
    id: 'out_of_order_pair',
    title: 'The newer state of a check before the older',
    reason:
      'Order is not guaranteed. An older state that is refused is sent again for 35 hours, and never fits: answer 2xx and keep the newer.',
    deliveries: (forge) => [1, 0].map((age) => forge.genuine(bytes(stateOf(forge, age)))),
  },
  {
    id: 'unknown_event_type',
    title: 'An event type that does not exist yet',
    reason:
      'On the day that the service learns a new type, each of its deliveries fails, and after some the endpoint is disabled.',
    deliveries: (forge) => [forge.genuine(bytes({ ...forge.envelope(), type: 'table.moved' }))],
  },
  {
    id: 'extra_v1',
    title: 'The right v1 after another one',
    reason:
      'While a secret is replaced, a delivery is signed with both. A receiver that looks at the first alone is cut off then.',
    deliveries: (forge) => {
      const body = bytes(forge.envelope())
      const t = forge.now()
      const other = forge.signature(body, t, 'whsec_another')
      return [forge.delivery(body, `t=${t},v1=${other},v1=${forge.signature(body, t)}`)]
    },
  },
  {
    id: 'twenty_in_parallel',
    title: 'Twenty deliveries at once',
    reason: 'A full restaurant pays at closing time. What is refused then is late by minutes.',
    deliveries: (forge) => Array.from({ length: 20 }, () => forge.genuine(bytes(forge.envelope()))),
    parallel: true,
  },
]

/** What a right receiver answers 2xx to. */
export const accepts: readonly ReceiverCase[] = rows.map(({ deliveries, parallel, ...row }) => ({
  group: 'accepts',
  ...row,
  async examine({ forge, send }) {
    const all = deliveries(forge)
    const answers = parallel ? await Promise.all(all.map((one) => send(one))) : await inTurn(all, send)
    const bad = answers.filter((answer) => !isGood(answer))
    const [first] = bad
    if (first === undefined) return undefined
    const share = answers.length > 1 ? ` (${bad.length} of ${answers.length} times)` : ''
    return `A genuine delivery was not taken: ${told(first)}${share}.`
  },
}))

/** One after the other, up to the first that has no answer. */
async function inTurn(deliveries: readonly Delivery[], send: (one: Delivery) => Promise<Answer>) {
  const answers: Answer[] = []
  for (const one of deliveries) {
    const answer = await send(one)
    answers.push(answer)
    if ('code' in answer) break
  }
  return answers
}

function signedAt(forge: Forge, offset: number): Delivery {
  const body = bytes(forge.envelope())
  return forge.delivery(body, forge.header(body, forge.now() + offset))
}

function large(forge: Forge): Buffer {
  const envelope = forge.envelope()
  const short = bytes({ ...envelope, data: { note: '' } })
  return bytes({ ...envelope, data: { note: 'n'.repeat(LARGE - short.length) } })
}

/** A state of one check; `age` 0 is the older. */
function stateOf(forge: Forge, age: number): object {
  const envelope = forge.envelope('check.updated')
  const at = new Date((forge.now() - 60 + age) * 1000).toISOString()
  return { ...envelope, created_at: at, data: { ...(envelope.data as object), updated_at: at } }
}
