import { contentOf, parsePush, unknownFields } from '../model/check.ts'
import { shortened } from '../model/text/advice.ts'
import type { Revision } from '../model/revision.ts'
import { type PushRefusal, type PushSeen, some } from './finding.ts'

/** Refusal because of claims (specification section 4, rule 4). */
export const CONFLICT = 'conflict_with_paid_items'

/** Refusals before the whole body was read, see `unreadNotRepeated`. `invalid_request` may be a broken connection. */
const UNREAD: readonly string[] = ['rate_limited', 'invalid_request', 'request_timeout']

/**
 * Refusals that are not the sender's mistake. A conflict is specified; injected faults are options of the service.
 * Unread pushes need a repetition.
 */
const EXPECTED: readonly string[] = [CONFLICT, 'fault_injected', ...UNREAD]

/** Longest part of the response's message that is repeated, in characters. */
const LONGEST_MESSAGE = 300

/** Finds refused pushes, by error code: their changes are not in the service. */
export function pushRefused({ status, code, message }: PushRefusal): string | undefined {
  if (status < 400 || status >= 500 || EXPECTED.includes(code)) return undefined
  const why = shortened(message, LONGEST_MESSAGE)
  return `The push was refused with ${status} ${code}, so the check does not have this change. ${why}`
}

/** Refusals that only another body, or another Content-Type, can avoid. */
const INVALID: readonly string[] = ['invalid_json', 'unsupported_media_type', 'validation_failed']

/** Returns true when the refusal is due to the body, so that the same body will be refused again. */
export function refusesTheBody(code: string): boolean {
  return INVALID.includes(code)
}

/** Finds a refused body that was repeated unchanged and refused with the same code. */
export function invalidPushRepeated({
  status,
  code,
  refusedBefore,
}: Pick<PushRefusal, 'status' | 'code'> & { refusedBefore: boolean }): string | undefined {
  if (!refusedBefore || !refusesTheBody(code)) return undefined
  return `This body was refused with ${status} ${code} before and was sent again unchanged. The response stays the same until the body is corrected. Retry a push only after a 5xx, a 429 or a broken connection.`
}

/** Finds a push that was refused because of claims, and whose content was repeated and refused again. */
export function conflictIgnored(refusedBefore: boolean): string | undefined {
  if (!refusedBefore) return undefined
  return 'The same content was refused with 409 before and was sent again. It conflicts as long as guests hold their claims, so a retry cannot succeed. Read the conflicts in the response, restore the items at their price, and push the current check.'
}

/** Fewest refused pushes in a row that show that a sender does not read conflicts. A queue may hold two. */
const FEWEST_REFUSALS = 3

/** Finds pushes in a row, each with another content, that were refused because of the same items. */
export function conflictKept(refusals: number, conflicts: readonly string[]): string | undefined {
  if (refusals < FEWEST_REFUSALS) return undefined
  return `The last ${refusals} pushes of this check were refused with 409 because of the same items: ${some(conflicts)}. No push was accepted since, so guests see the old check. Read the conflicts in the response, restore the items at their price, and push the current check.`
}

/** The end of a push that was not repeated. */
interface UnrepeatedPush extends Unrepeated {
  status: number
  /** True when the connection ended before the response. */
  brokeOff: boolean
}

/** A push that was not repeated. */
interface Unrepeated {
  /** True when the push has a revision, or its body is unknown: then a newer state settles the finding. */
  newerSettles: boolean
}

/** Returns a sentence for senders without revisions: the service cannot tell a newer state from another one. */
function unlessNewer(newerSettles: boolean): string {
  return newerSettles ? '' : ' Ignore this finding if you sent a newer state instead.'
}

/** Finds a push that failed with 5xx or without a response and was not repeated: its state may be lost. */
export function noIdempotentRetry({ status, brokeOff, newerSettles }: UnrepeatedPush): string | undefined {
  if (!brokeOff && status < 500) return undefined
  const what = brokeOff ? 'ended without a response' : `got the response ${status}`
  return `The push ${what} and was not retried. The check may lack its change. Send the same push again until the status is below 500: a replay changes nothing.${unlessNewer(newerSettles)}`
}

/** Finds a push beyond the rate limit, or in an invalid request, that was not repeated: its state may be lost. */
export function unreadNotRepeated({
  status,
  code,
  message,
  newerSettles,
}: PushRefusal & Unrepeated): string | undefined {
  if (!UNREAD.includes(code)) return undefined
  const next =
    code === 'rate_limited'
      ? 'Wait for the seconds in Retry-After, then send the push again.'
      : shortened(message, LONGEST_MESSAGE)
  return `The push was refused with ${status} ${code} and was not sent again. The check may lack its change. ${next}${unlessNewer(newerSettles)}`
}

/** Keys of a push: equal for equal pushes, however their JSON is written. */
interface PushKeys {
  /** The content and the revision. */
  state: string
  /** The content alone; equal to `state` without a revision. */
  content: string
  revision: Revision | undefined
}

export function keysOf(body: string, orderBy: string): PushKeys {
  try {
    const push = parsePush(JSON.parse(body), { orderBy })
    const content = contentOf(push)
    return { state: `${push.revision ?? ''} ${content}`, content: ` ${content}`, revision: push.revision }
  } catch {
    // An invalid push is equal only by its text.
    return { state: body, content: body, revision: undefined }
  }
}

/** Finds fields that a check does not have: often misspelt ones, whose values the sender believes to be stored. */
export function unknownField({ body, orderBy }: Pick<PushSeen, 'body' | 'orderBy'>): string | undefined {
  const paths = unknownFields(body, orderBy)
  if (paths.length === 0) return undefined
  return `Unknown fields of a check were ignored: ${some(paths, 5)}. Correct misspelled names and remove other fields: a service in strict mode refuses them.`
}

/** Longest part of a text in a wrong encoding that is shown, in characters. */
const LONGEST_TEXT = 80

/** What each text in a wrong encoding has. Most other texts have none of it. */
const SUSPICIOUS = /[&\\\uFFFD]|[\u0080-\uFFFF]{2}/

/**
 * Finds texts in a wrong encoding, which guests see: "CafÃ©" and "Fish &amp; Chips". Receivers get them in each event, too.
 */
export function textEncoding({ push: { table, items } }: Pick<PushSeen, 'push'>): string | undefined {
  const texts = items.flatMap(({ external_id, name, note }) => [
    { of: external_id, text: name },
    { of: external_id, text: note ?? '' },
  ])
  const wrong = [...texts, { of: 'table', text: table.number }].flatMap(({ of, text }) => {
    const mistake = SUSPICIOUS.test(text) ? encodingMistake(text) : undefined
    return mistake === undefined ? [] : [`${of} has "${shortened(text, LONGEST_TEXT)}" (${mistake})`]
  })
  if (wrong.length === 0) return undefined
  return `Texts have a wrong encoding, and guests see them so: ${some(wrong)}. Read each text in the encoding of its source, such as that of the database. Encode it once, as JSON in UTF-8.`
}

const HTML_ENTITY =
  /&(?:#\d+|#x[\da-f]+|amp|lt|gt|quot|apos|nbsp|[a-z]+(?:acute|grave|circ|uml|tilde|cedil|ring|slash|lig));/i
const JSON_ESCAPE = /\\u[\da-f]{4}/i

function encodingMistake(text: string): string | undefined {
  if (text.includes('\uFFFD')) return 'a character was lost before the push'
  if (HTML_ENTITY.test(text)) return 'HTML'
  if (JSON_ESCAPE.test(text)) return 'an escape of JSON, escaped again'
  const meant = decodedAgain(text)
  return meant === undefined
    ? undefined
    : `"${shortened(meant, LONGEST_TEXT)}" in UTF-8, read as Windows-1252 or Latin-1`
}

/** Characters of Windows-1252 for the bytes 80 to 9F. Five bytes have none. `signature/` has its own: it depends on nothing. */
const FROM_80 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

/** Signs after words in capitals, which would look like the second byte of a letter: "NESCAFÉ®", "ROMÃ…". */
const SIGN_AFTER_CAPITAL = /(?<=(?![ÂÃ])\p{Lu}|\p{Lu}Ã)[®™©](?!\p{L})|(?<=\p{Lu}Ã)(?:’|[…”»·°½](?!\p{L}))/gu

/** Letters of Western Europe and, within words in small letters, of Central Europe: é as Ã©, ł as Å‚. */
const COMMON_BYTES = /[ÂÃ][^\0-\x7f]|\p{Ll}[ÄÅ][^\0-\x7f]|(?<!\p{L})[ÄÅ][^\0-\x7f’]\p{Ll}/u

/** A text of which each character is one byte in Windows-1252 or Latin-1. */
const ONE_BYTE_EACH = new RegExp(`^[\\0-\\xff${FROM_80}]*$`)

const UTF_8 = new TextDecoder('utf-8', { fatal: true })

/** Returns the text whose bytes in UTF-8 were read as Windows-1252 or Latin-1; `undefined` for any other text. */
function decodedAgain(text: string): string | undefined {
  if (!ONE_BYTE_EACH.test(text)) return undefined
  const read = text.replace(SIGN_AFTER_CAPITAL, '')
  const bytes = Uint8Array.from(read, (character) => {
    const code = character.charCodeAt(0)
    return code <= 0xff ? code : 0x80 + FROM_80.indexOf(character)
  })
  let decoded: string
  try {
    decoded = UTF_8.decode(bytes)
  } catch {
    return undefined
  }
  // "RENÉ’S" is valid, too: a single letter of two bytes shows nothing, unless honest texts lack its bytes.
  const letters = decoded.match(/[^\0-\x7f]/gu) ?? []
  const isCommon = COMMON_BYTES.test(read) || /[^\0-\u07FF]/u.test(decoded)
  return letters.length > 1 || (letters.length === 1 && isCommon) ? decoded : undefined
}
