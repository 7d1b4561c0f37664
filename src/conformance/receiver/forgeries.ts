import { ANSWER_SECONDS } from './accepts.ts'
import type { Forgery, RefuseRow } from './case.ts'
import { bytes, labelled, OTHER_SECRET, withHeader, type Forge } from './forge.ts'
import type { Delivery } from './send.ts'

const NOT_RAW =
  'The receiver changes the body before verification, so unsigned bodies pass. Verify the raw body as received (specification section 5).'

const COMPARES_A_PART =
  'Attackers can guess a signature, because only a part of its 64 digits is compared. Compare all digits in constant time.'

/**
 * A receiver that compares a part of the signature, or numbers, accepts some signatures of other secrets by chance. Where
 * one of these cases failed, cases with such signatures say nothing new.
 */
export const byChance: readonly string[] = ['v1_right_number', 'v1_right_beginning']

const NEVER_EXPIRES =
  'A recorded delivery can be replayed at any time: this t is outside the tolerance (specification section 5).'

/** In seconds. */
const DAY = 86_400

/** Genuine deliveries changed after signing. */
export const tampering: readonly RefuseRow[] = [
  {
    id: 'tampered_body',
    explainedBy: byChance,
    title: 'Amount changed after signing',
    reason: 'Anyone who intercepts a delivery can change amounts: the signature does not cover the body.',
    forge: (forge) =>
      tampered(forge, () => forge.envelopeWith({ amount_cents: 1000 }), [
        [(body) => body.replace('"amount_cents":1000', '"amount_cents":9000')],
      ]),
  },
  {
    id: 'white_space_added',
    explainedBy: ['odd_white_space', 'odd_trailing_newline', ...byChance],
    title: 'Whitespace added to the body after signing',
    reason: NOT_RAW,
    forge: (forge) =>
      tampered(forge, () => forge.envelope(), [
        [(body) => ` ${body}`, 'a space at the beginning'],
        [(body) => `${body}\n`, 'a line break at the end'],
        [(body) => JSON.stringify(JSON.parse(body), null, 2), 'line breaks and indents'],
      ]),
  },
  {
    id: 'unicode_form_changed',
    explainedBy: ['odd_unicode', 'non_ascii', ...byChance],
    title: 'Letter in another Unicode form than signed',
    reason: NOT_RAW,
    forge: (forge) =>
      tampered(forge, () => forge.envelopeWith({ name: 'Zoë'.normalize('NFC') }), [
        [(body) => body.normalize('NFD')],
      ]),
  },
  {
    id: 'tampered_t',
    explainedBy: byChance,
    title: 'Newer t than signed',
    reason: 'Recorded deliveries can be replayed with a new time, because the signature does not cover t.',
    forge(forge) {
      const body = bytes(forge.envelope())
      const t = forge.now()
      return { forged: [forge.delivery(body, `t=${t},v1=${forge.signature(body, t - 60)}`)] }
    },
  },
  {
    id: 'header_reused',
    explainedBy: byChance,
    title: 'Verified header with another body',
    reason:
      'Anyone who has seen one delivery can send any other, because the receiver caches verified headers.',
    forge(forge) {
      const body = bytes(forge.envelope())
      const header = forge.header(body)
      return {
        before: forge.delivery(body, header),
        forged: [forge.delivery(bytes(forge.envelope()), header)],
      }
    },
  },
  {
    id: 'known_id_unsigned',
    explainedBy: ['no_header', ...byChance],
    title: 'Id of an accepted event, without a valid signature',
    reason:
      'Attackers get a 2xx for any body with a known id, because the receiver deduplicates before verification. Verify first, then deduplicate.',
    forge(forge) {
      const envelope = forge.envelope()
      const body = bytes(envelope)
      const changed = bytes({ ...envelope, data: { ...(envelope.data as object), status: 'closed' } })
      return {
        before: forge.genuine(body),
        forged: [
          labelled('another body, no signature', forge.delivery(changed)),
          labelled('another body, another secret', otherSecret(forge, changed)),
          labelled('the same body, no signature', forge.delivery(body)),
        ],
      }
    },
  },
]

/** Signatures that are not the right one. */
export const signatures: readonly RefuseRow[] = [
  {
    id: 'no_header',
    title: 'No signature header',
    reason: 'Anyone who knows the URL can send events without a signature.',
    forge: (forge) => ({ forged: [forge.delivery(bytes(forge.envelope()))] }),
  },
  {
    id: 'empty_header',
    title: 'Empty signature header',
    reason: 'Anyone who knows the URL can send events with an empty signature.',
    forge: (forge) => ({ forged: [forge.delivery(bytes(forge.envelope()), '')] }),
  },
  {
    id: 'v1_right_number',
    title: 'Other digits that begin with the same decimal number',
    reason:
      'The receiver compares numbers, not text, so attackers can guess a signature. Compare all 64 digits as text, in constant time.',
    forge(forge) {
      const t = forge.now()
      const changed = (
        label: string,
        [beginning, change]: readonly [beginning: RegExp, change: (v1: string) => string],
      ) => {
        const body = forge.bodyWhere((one) => beginning.test(forge.signature(one, t)))
        return labelled(label, forge.delivery(body, `t=${t},v1=${change(forge.signature(body, t))}`))
      }
      return {
        forged: [
          changed('the same number', [/^[1-9]\d{0,3}[a-df]/, sameNumber]),
          changed('no number in both', [/^[a-f]/, otherLetters]),
        ],
      }
    },
  },
  {
    id: 'v1_right_beginning',
    explainedBy: ['v1_right_number'],
    title: 'Only the first 8, 32 or 63 digits are correct',
    reason: COMPARES_A_PART,
    forge: (forge) =>
      withDigits(
        forge,
        [8, 32, 63].map((right) => (v1) => v1.slice(0, right) + wrong(v1.slice(right))),
      ),
  },
  {
    id: 'v1_right_end',
    explainedBy: byChance,
    title: 'Only the last 8, 32 or 63 digits are correct',
    reason: COMPARES_A_PART,
    forge: (forge) =>
      withDigits(
        forge,
        [8, 32, 63].map((right) => (v1) => wrong(v1.slice(0, -right)) + v1.slice(-right)),
      ),
  },
  {
    id: 'v1_wrong_middle',
    explainedBy: [...byChance, 'v1_right_end'],
    title: 'Only the first and last 4 or 28 digits are correct',
    reason: COMPARES_A_PART,
    forge: (forge) =>
      withDigits(
        forge,
        [4, 28].map(
          (right) => (v1) => v1.slice(0, right) + wrong(v1.slice(right, -right)) + v1.slice(-right),
        ),
      ),
  },
  {
    id: 'v1_truncated',
    explainedBy: byChance,
    title: 'Shortened signatures: half, one digit, none',
    reason:
      'Attackers can send an empty signature, or guess one digit by digit, because the comparison stops at the shorter text.',
    forge: (forge) =>
      withDigits(
        forge,
        [32, 1, 0].map((left) => (v1) => v1.slice(0, left)),
      ),
  },
  {
    id: 'v1_extended',
    explainedBy: [...byChance, 'v1_right_end'],
    title: 'Correct signature followed by more digits',
    reason:
      'The receiver accepts signatures that do not match, because it compares only as many digits as it expects. Compare the lengths, too.',
    forge: (forge) => withDigits(forge, [(v1) => `${v1}00`, (v1) => v1 + v1]),
  },
  {
    id: 'unset_secret',
    explainedBy: byChance,
    title: 'Signed with an empty secret, "undefined", "null" or "None"',
    reason:
      'Anyone can sign: the receiver also verifies with an unset secret, such as a second one for rotation. Skip unset secrets.',
    forge(forge) {
      const signed = (key: string) => labelled(`signed with ${JSON.stringify(key)}`, signedWith(forge, key))
      return { forged: ['', ' ', 'undefined', 'null', 'None', 'whsec_'].map(signed) }
    },
  },
  {
    id: 'header_twice',
    explainedBy: byChance,
    basis: 'advice',
    title: 'Two signature headers, the valid one first or last',
    reason:
      'Proxies and frameworks read different headers of the two, or join both with a comma. Reject deliveries with two signature headers or a second t.',
    forge(forge) {
      const twice = (...secrets: readonly string[]) => {
        const body = bytes(forge.envelope())
        return forge.delivery(body, ...secrets.map((secret) => forge.header(body, forge.now(), secret)))
      }
      return { forged: [twice(forge.secret, OTHER_SECRET), twice(OTHER_SECRET, forge.secret)] }
    },
  },
]

/** Right signatures of the wrong time. */
export const times: readonly RefuseRow[] = [
  {
    id: 'expired',
    title: 'Timestamp just outside the tolerance in the past',
    reason:
      'A recorded delivery can be replayed too long, or forever (specification section 5: 300 s by default; --tolerance).',
    forge(forge) {
      const old = () => signedAt(forge, forge.now() - forge.tolerance - ANSWER_SECONDS)
      const date = new Date(forge.nowMs()).toUTCString()
      return { forged: [old(), labelled('a new time in the Date header', withHeader(old(), 'Date', date))] }
    },
  },
  {
    id: 'from_the_future',
    explainedBy: ['expired'],
    title: 'Timestamp just outside the tolerance in the future',
    reason:
      'The tolerance applies in both directions (specification section 5). A delivery from the future can be replayed until its time has passed.',
    forge: (forge) => ({ forged: [signedAt(forge, forge.now() + forge.tolerance + ANSWER_SECONDS + 1)] }),
  },
  {
    id: 't_in_1970',
    explainedBy: ['expired'],
    title: 'Signed with t=0, t=1 or a shortened time',
    reason: NEVER_EXPIRES,
    forge: (forge) => ({
      forged: [0, 1, Math.floor(forge.now() / 100)].map((t) => signedAt(forge, t)),
    }),
  },
  {
    id: 't_whole_days_off',
    explainedBy: ['expired', 'from_the_future'],
    title: 'Signed whole days ago, or whole days ahead',
    reason:
      'Recorded deliveries can be replayed on other days at the same time, because the receiver ignores the days of the difference, like timedelta.seconds in Python.',
    forge(forge) {
      const days = Math.ceil((forge.tolerance + ANSWER_SECONDS) / DAY)
      return { forged: [-days, -days - 2, days].map((off) => signedAt(forge, forge.now() + off * DAY)) }
    },
  },
  {
    id: 't_far_ahead',
    explainedBy: ['from_the_future'],
    title: 'Signed with extra digits in t, up to more than 64 bits',
    reason: NEVER_EXPIRES,
    forge(forge) {
      const now = BigInt(forge.now())
      const beyond = [now * 10n, now * 1000n, now + 2n ** 32n, now + 2n ** 64n, 10n ** 30n]
      return { forged: beyond.map((t) => signedAt(forge, String(t))) }
    },
  },
]

/** Its body is not JSON. */
export const bodyMovedIntoT: RefuseRow = {
  id: 'body_moved_into_t',
  isAlone: true,
  explainedBy: ['unsigned_junk'],
  title: 'Start of a signed body moved into t',
  reason:
    'Anyone who has recorded a delivery can send a part of its body, because t may contain any text. Accept only digits as t.',
  forge(forge) {
    const { created_at, ...envelope } = forge.envelope()
    const body = bytes({ created_at, ...envelope })
    const t = forge.now()
    const cut = body.indexOf('.')
    const header = `t=${t}.${body.subarray(0, cut).toString()},v1=${forge.signature(body, t)}`
    return { forged: [forge.delivery(body.subarray(cut + 1), header)], genuine: forge.genuine(body) }
  },
}

/** A number and then letters. An `e` would make it a number with an exponent. */
const readableNumber = /^(\d{0,4})[a-df]/

/**
 * A delivery signed with another secret that no receiver accepts by chance: the beginning, the end and the leading
 * decimal number of its signature are wrong.
 */
export function clearlyForged(forge: Forge): Delivery {
  const t = forge.now()
  const body = forge.bodyWhere((one) => {
    const [right, forged] = [forge.secret, OTHER_SECRET].map((key) => forge.signature(one, t, key))
    const [, number] = readableNumber.exec(right ?? '') ?? []
    const [, other] = readableNumber.exec(forged ?? '') ?? []
    if (number === undefined || other === undefined || Number(number) === Number(other)) return false
    return right?.[0] !== forged?.[0] && right?.at(-1) !== forged?.at(-1)
  })
  return forge.delivery(body, forge.header(body, t, OTHER_SECRET))
}

/** A delivery that anybody could sign. */
export function otherSecret(forge: Forge, body = bytes(forge.envelope())): Delivery {
  return signedWith(forge, OTHER_SECRET, body)
}

function signedWith(forge: Forge, secret: string, body = bytes(forge.envelope())): Delivery {
  return forge.delivery(body, forge.header(body, forge.now(), secret))
}

/**
 * Bodies of new events that are changed after signing. The last one, with a signature of its own, is what must be
 * accepted.
 */
function tampered(
  forge: Forge,
  create: () => object,
  changes: readonly (readonly [change: (body: string) => string, label?: string])[],
): Forgery {
  const [changeLast] = changes.at(-1) ?? [String]
  return {
    forged: changes.map(([change, label]) => {
      const body = bytes(create())
      const delivery = forge.delivery(Buffer.from(change(body.toString())), forge.header(body))
      return label === undefined ? delivery : labelled(label, delivery)
    }),
    genuine: forge.genuine(Buffer.from(changeLast(bytes(create()).toString()))),
  }
}

/** Events whose headers have other values of v1. */
function withDigits(forge: Forge, changes: readonly ((v1: string) => string)[]): Forgery {
  const t = forge.now()
  return {
    forged: changes.map((change) => {
      const body = bytes(forge.envelope())
      return forge.delivery(body, `t=${t},v1=${change(forge.signature(body, t))}`)
    }),
  }
}

/** As many hexadecimal digits, each another one. */
function wrong(digits: string): string {
  return digits.replace(/./g, (digit) => (15 - Number.parseInt(digit, 16)).toString(16))
}

/** As many letters, each another one. */
function otherLetters(digits: string): string {
  return digits.replace(/./g, (digit) => (digit === 'a' ? 'b' : 'a'))
}

/** As many digits that are other text, but begin with the same decimal number. */
function sameNumber(v1: string): string {
  const [number = ''] = /^\d+/.exec(v1) ?? []
  return `0${number}${otherLetters(v1.slice(number.length + 1))}`
}

function signedAt(forge: Forge, t: number | string): Delivery {
  const body = bytes(forge.envelope())
  return labelled(`t=${t}`, forge.delivery(body, forge.header(body, t)))
}
