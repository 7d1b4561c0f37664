import { ApiError, Unreachable, type Client, type StreamMessage } from '../client.ts'
import type { Delivery } from '../model/delivery.ts'
import { openStream } from './open-stream.ts'
import { deliveries } from './render/delivery.ts'
import { printable } from './render/text.ts'
import { moment } from './render/words.ts'

/** What somebody waits for. */
export interface Wanted {
  type?: string | undefined
  /** External id. */
  check?: string | undefined
  endpoint?: string | undefined
  status: Delivery['status']
  /** So many at least; with `exactly`, and no more. */
  count: number
  exactly: boolean
  none: boolean
}

export type Verdict = { ok: true; deliveries: readonly Delivery[] } | Unmet
export interface Unmet {
  ok: false
  code: 'never_came' | 'refused' | 'other_status' | 'too_often' | 'came_anyway'
  message: string
}

type Reader = Pick<Client, 'stream'> & { deliveries: Pick<Client['deliveries'], 'list' | 'get'> }

/**
 * Waits until it is certain whether the deliveries come that are wanted, until `deadline` aborts at the latest; one that
 * has done so already means to look only at what is there. The stream is open before the list is read, so that nothing
 * falls between the two. `onWaiting` is called when what is there does not decide it.
 * @throws Unreachable when the service ends meanwhile, and ApiError.
 */
export async function waitForDeliveries(
  client: Reader,
  wanted: Wanted,
  deadline: AbortSignal,
  onWaiting: () => void = () => {},
): Promise<Verdict> {
  const seen = new Map<string, Delivery>()
  const look = async () => {
    seen.clear()
    for await (const delivery of allDeliveries(client, subject(wanted))) note(seen, [delivery], wanted)
  }
  const done = new AbortController()
  try {
    const stream = await listen(client, AbortSignal.any([deadline, done.signal]), deadline)
    await look()
    if (stream === undefined) return judge(seen, wanted)
    if (!isDecided(seen, wanted)) {
      onWaiting()
      for await (const message of stream) {
        if (message.type === 'reset') await look()
        else note(seen, await concerned(client, wanted, message), wanted)
        if (isDecided(seen, wanted)) break
      }
    }
    if (isDecided(seen, wanted)) return judge(seen, wanted)
    if (!deadline.aborted) throw new Unreachable('The service ended while its deliveries were waited for.')
    await look()
    return judge(seen, wanted)
  } finally {
    done.abort()
  }
}

/** All deliveries that a filter of the list lets through, newest first. */
export async function* allDeliveries(
  client: { deliveries: Pick<Client['deliveries'], 'list'> },
  filter: Readonly<Record<string, string | undefined>> = {},
): AsyncGenerator<Delivery> {
  let cursor: string | undefined
  do {
    const page = await client.deliveries.list({ ...filter, limit: 100, cursor })
    yield* page.data
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
}

/** Resolves once nothing that happens is missed; with `undefined` when the deadline has passed by then. */
async function listen(client: Reader, signal: AbortSignal, deadline: AbortSignal) {
  if (deadline.aborted) return undefined
  try {
    return await openStream(client, signal)
  } catch (error) {
    if (deadline.aborted) return undefined
    throw error
  }
}

/** The deliveries that a message is about, as they are now. */
async function concerned(client: Reader, wanted: Wanted, message: StreamMessage): Promise<Delivery[]> {
  if (message.type === 'attempt' && isAbout(message.data, wanted)) {
    const delivery = await client.deliveries.get(message.data.id).catch(ignoreGone)
    return delivery === undefined ? [] : [delivery]
  }
  if (message.type === 'delivery') return isAbout(message.data, wanted) ? [message.data] : []
  // A new delivery is announced by its event alone; only who waits for pending ones must know before its attempt.
  if (message.type !== 'event' || wanted.status !== 'pending') return []
  const { data } = await client.deliveries.list({ event_id: message.data.id, limit: 100 })
  return data
}

function ignoreGone(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.status !== 404) throw error
}

function note(seen: Map<string, Delivery>, deliveries: readonly Delivery[], wanted: Wanted): void {
  for (const delivery of deliveries) if (isAbout(delivery, wanted)) seen.set(delivery.id, delivery)
}

function subject({ type, check, endpoint }: Wanted) {
  return { type, external_check_id: check, endpoint_id: endpoint }
}

type Subject = Pick<Delivery, 'event_type' | 'external_check_id' | 'endpoint_id'>

function isAbout(delivery: Subject, { type, check, endpoint }: Wanted): boolean {
  if (type === undefined ? delivery.event_type === 'ping' : delivery.event_type !== type) return false
  if (check !== undefined && delivery.external_check_id !== check) return false
  return endpoint === undefined || delivery.endpoint_id === endpoint
}

function matching(seen: ReadonlyMap<string, Delivery>, { status }: Wanted): Delivery[] {
  return [...seen.values()].filter((delivery) => delivery.status === status)
}

/** Whether waiting longer can change nothing any more. */
function isDecided(seen: ReadonlyMap<string, Delivery>, wanted: Wanted): boolean {
  const came = matching(seen, wanted).length
  if (wanted.none) return came > 0
  return wanted.exactly ? came > wanted.count : came >= wanted.count
}

function judge(seen: ReadonlyMap<string, Delivery>, wanted: Wanted): Verdict {
  const came = matching(seen, wanted)
  const ids = came.map(({ id }) => id).join(', ')
  const about = inWords(wanted)
  if (wanted.none && came.length > 0)
    return unmet('came_anyway', `There was to be ${about}, but one came: ${ids}.`)
  if (wanted.exactly && came.length > wanted.count)
    return unmet(
      'too_often',
      `There was to be ${about}, but it came too often, ${came.length} times: ${ids}.`,
    )
  if (wanted.none || came.length >= wanted.count) return { ok: true, deliveries: came }
  const others = [...seen.values()].filter(({ status }) => status !== wanted.status)
  return missing(came, others, wanted)
}

function missing(came: readonly Delivery[], others: readonly Delivery[], wanted: Wanted): Unmet {
  const start = `There was to be ${inWords(wanted)}, but ${came.length === 0 ? '' : `only ${came.length} came; `}`
  const refused = others.find(({ attempts }) => (attempts.at(-1)?.error ?? null) !== null)
  if (wanted.status === 'delivered' && refused !== undefined)
    return unmet('refused', `${start}${refusal(refused)}`)
  const [other] = others
  if (other !== undefined) return unmet('other_status', `${start}${other.id} came and is ${other.status}.`)
  return came.length === 0
    ? unmet(
        'never_came',
        `${start}it never came. tabwire endpoints list shows who listens, tabwire events list what happened.`,
      )
    : unmet('never_came', `${start}the rest never came.`)
}

function refusal({ id, attempts, next_attempt_at }: Delivery): string {
  const reason = printable(attempts.at(-1)?.error ?? '').replace(/\.$/, '')
  const next = next_attempt_at === null ? 'dead' : `next attempt ${moment(next_attempt_at)} UTC`
  return `${id} came but was refused at attempt ${attempts.length} (${next}): ${reason}.`
}

function unmet(code: Unmet['code'], message: string): Unmet {
  return { ok: false, code, message }
}

/** `2 deliveries of check.closed about dinner, delivered`. */
export function inWords({ type, check, endpoint, status, count, exactly, none }: Wanted): string {
  const number = none ? 'no delivery' : `${exactly ? 'exactly ' : ''}${deliveries(count)}`
  const of = type === undefined ? '' : ` of ${type}`
  const about = check === undefined ? '' : ` about ${check}`
  const to = endpoint === undefined ? '' : ` to ${endpoint}`
  return `${number}${of}${about}${to}, ${status}`
}
