import { setTimeout as sleep } from 'node:timers/promises'
import { isGood, describeAnswer, type ReceiverCase } from './case.ts'
import { bytes, OTHER_SECRET, type Forge } from './forge.ts'
import type { Delivery, DeliveryAnswer } from './send.ts'

/** Time limit for a receiver to crash after a broken connection, in milliseconds. */
const END_MS = 100

/** Behaviour under load and abuse. These cases come last, since they also check the effects of the others. */
export const behaves: readonly ReceiverCase[] = [
  {
    group: 'behaves',
    id: 'twenty_in_parallel',
    explainedBy: ['keeps_working'],
    basis: 'advice',
    title: 'Twenty valid deliveries in parallel',
    reason:
      'Many guests pay at the same time. A rejected delivery is retried after a minute at the earliest.',
    async examine({ forge, send }) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => send(forge.genuine())))
      const others = answers.filter((answer) => !isGood(answer))
      // A receiver that answers one request after the other still works on these, which is no mistake of the next cases.
      if (others.length > 0) await send(forge.genuine())
      const bad = others.filter(({ unjudged }) => unjudged === undefined)
      const [first] = bad
      const notChecked = others[0]?.unjudged
      if (first === undefined && notChecked !== undefined) return { notChecked }
      return first && `${describeAnswer(first)} in ${bad.length} of ${answers.length}; expected 2xx.`
    },
  },
  {
    group: 'behaves',
    id: 'keeps_working',
    title: 'A valid delivery is accepted after all forged ones',
    reason:
      'Forged requests must not block the service (specification section 6). After a ban or a crash, valid deliveries are lost.',
    async examine({ forge, send }) {
      const answer = await send(forge.genuine())
      if (isGood(answer)) return undefined
      if (answer.unjudged !== undefined) return { notChecked: answer.unjudged }
      return `${describeAnswer(answer)} after the forged deliveries; expected 2xx.`
    },
  },
  {
    group: 'behaves',
    id: 'refuses_with_4xx',
    basis: 'advice',
    title: 'Forged deliveries are rejected with a 4xx',
    reason:
      'A crash, a redirect or a timeout also rejects. But it looks like a fault in logs, and shows attackers where the receiver breaks.',
    async examine({ rejections }) {
      const others = rejections.filter(({ answer }) => !isRefusal(answer))
      const [first] = others
      if (first === undefined) return undefined
      const ids = [...new Set(others.map(({ id }) => id))]
      const more = ids.length > MOST_NAMED_CASES ? ` and ${ids.length - MOST_NAMED_CASES} more` : ''
      const isSilent = 'code' in first.answer && first.answer.code === 'TIMEOUT'
      const cause = isSilent ? ' A status alone is no response: in Express, res.status(400) needs end().' : ''
      return `${describeAnswer(first.answer)} in ${ids.slice(0, MOST_NAMED_CASES).join(', ')}${more}; a 4xx is better.${cause}`
    },
  },
  {
    group: 'behaves',
    id: 'reveals_nothing',
    basis: 'advice',
    title: 'Rejections reveal neither the correct signature nor the secret',
    reason:
      'Anyone can read the signature of a forged event in the response, and send the event again with it. Return no details, and switch off error pages for developers.',
    async examine({ forge, send }) {
      for (const one of explicable(forge)) {
        const answer = await send(one.delivery, { readBody: true })
        if (answer.unjudged !== undefined) return { notChecked: answer.unjudged }
        const found =
          one.signature !== undefined && shows(answer, one.signature) ? 'correct signature' : undefined
        const revealed = shows(answer, forge.secret) ? 'signing secret' : found
        if (revealed !== undefined)
          return `${describeAnswer(answer)} with the ${revealed} in the response; expected none. Sent: ${one.label}.`
      }
      return undefined
    },
  },
  {
    group: 'behaves',
    id: 'survives_a_broken_connection',
    explainedBy: ['keeps_working'],
    basis: 'advice',
    title: 'A valid delivery is accepted after an aborted request',
    reason:
      'Connections break. A receiver that exits on an uncaught error loses its current work, and all deliveries until it restarts.',
    async examine({ forge, send }) {
      await send(forge.genuine(), { cutOff: true })
      await sleep(END_MS)
      const first = await send(forge.genuine())
      const answer = 'code' in first && first.code === 'ECONNRESET' ? await send(forge.genuine()) : first
      if (isGood(answer)) return undefined
      if (answer.unjudged !== undefined) return { notChecked: answer.unjudged }
      return `${describeAnswer(answer)}; expected 2xx.`
    },
  },
]

/** Most cases that a message names. */
const MOST_NAMED_CASES = 3

function isRefusal(answer: Parameters<typeof isGood>[0]): boolean {
  return 'status' in answer && answer.status >= 400 && answer.status < 500
}

/** Deliveries whose rejection a receiver may explain, with the signature that it may compute for them. */
function explicable(forge: Forge): { label: string; delivery: Delivery; signature?: string }[] {
  const t = forge.now()
  const [forged, body] = [bytes(forge.envelope()), bytes(forge.envelope())]
  return [
    {
      label: 'another secret',
      delivery: forge.delivery(forged, forge.header(forged, t, OTHER_SECRET)),
      signature: forge.signature(forged, t),
    },
    {
      label: 'a shortened v1',
      delivery: forge.delivery(body, `t=${t},v1=00`),
      signature: forge.signature(body, t),
    },
    { label: 'no signature', delivery: forge.delivery(body) },
    { label: 'a malformed header', delivery: forge.delivery(body, 'v1') },
  ]
}

/** Returns true when a response has a text in its body, as far as it was read, or in its headers. */
function shows(answer: DeliveryAnswer, text: string): boolean {
  if (!('status' in answer)) return false
  const all = [answer.body ?? '', ...Object.values(answer.headers)].join('\n').toLowerCase()
  return all.includes(text.toLowerCase())
}
