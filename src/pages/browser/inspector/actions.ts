import type { Delivery } from '../../../model/delivery.ts'
import { act } from './act.ts'
import { go } from './address.ts'
import { ask } from './ask.ts'

const one = encodeURIComponent

/** What a ping came to. */
interface PingReport {
  outcome: string | null
  response_status: number | null
  duration_ms: number | null
  error: string | null
}

/** What an advance played. */
interface Played {
  now: string
  attempted_total: number
}

/** `tabwire ping`. */
export function ping(endpointId: string): void {
  void act(async () => {
    const { outcome, response_status, duration_ms, error } = await ask<PingReport>(
      'POST',
      `/webhook-endpoints/${one(endpointId)}/test`,
    )
    if (outcome === 'succeeded') return `The ping was answered ${response_status} in ${duration_ms} ms.`
    throw new Error(`The ping failed: ${error ?? outcome}`)
  })
}

/** `tabwire deliveries resend`; the new delivery is opened. */
export function resend(deliveryId: string, fresh: boolean): void {
  void act(async () => {
    const { id } = await ask<Delivery>('POST', `/deliveries/${one(deliveryId)}/resend`, { fresh })
    go({ open: id })
    return `It is sent again ${fresh ? 'under a new signature' : 'verbatim'}, as ${id}.`
  })
}

/** `tabwire clock advance`, or to a time. */
export function advance(move: { advance: string } | { to: string }): void {
  void act(async () => {
    const { now, attempted_total } = await ask<Played>('POST', '/clock', move)
    return `It is ${now.slice(0, 19).replace('T', ' ')} UTC now. Attempts made on the way: ${attempted_total}.`
  })
}

/** `tabwire clock freeze`. */
export function freeze(frozen: boolean): void {
  void act(async () => {
    await ask('POST', '/clock', { freeze: frozen })
    return frozen ? 'The clock stands still.' : 'The clock runs again.'
  })
}

/** `tabwire state reset`. */
export function reset(): void {
  void act(async () => {
    await ask('POST', '/reset', {})
    go({ open: '' })
    return 'All is as in a fresh service. Locations and API keys stay.'
  })
}

/** `tabwire guests claim`. */
export function claim(
  check: string,
  guest_name: string | null,
  items: readonly { external_id: string; quantity: number }[],
): void {
  void act(async () => {
    const made = await ask<{ id: string }>('POST', `/checks/${one(check)}/claims`, { guest_name, items })
    return `Claimed, as ${made.id}.`
  })
}

/** `tabwire guests release`. */
export function release(claimId: string): void {
  void act(async () => {
    await ask('DELETE', `/claims/${one(claimId)}`)
    return 'The claim is released.'
  })
}

/** `tabwire guests pay`: claims, an amount, or with neither the whole balance. */
export function pay(
  check: string,
  body: { guest_name?: string | null; claim_ids?: string[]; amount_cents?: number; tip_cents?: number },
): void {
  void act(async () => {
    const paid = await ask<{ id: string }>('POST', `/checks/${one(check)}/payments`, body)
    return `Paid, as ${paid.id}.`
  })
}
