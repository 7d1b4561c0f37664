import { signal } from '@preact/signals'
import type { Delivery } from '../../../model/delivery.ts'
import type { PingReport } from '../../../model/webhook-endpoint.ts'
import { go } from './address.tsx'
import { outcome, showFailure } from './announce.tsx'
import { callApi } from './api.ts'
import { publishReturn } from './live.ts'

/** True while an action is in flight. */
export const busy = signal(false)

/**
 * Runs one action at a time, shows the text it returns or its error, then makes the page read everything again. Resolves
 * with true on success, and with false also while another action runs.
 */
export async function act(work: () => Promise<string>): Promise<boolean> {
  if (busy.value) return false
  busy.value = true
  outcome.value = null
  try {
    outcome.value = { text: await work(), bad: false }
    return true
  } catch (error) {
    showFailure(error)
    return false
  } finally {
    busy.value = false
    publishReturn()
  }
}

const encode = encodeURIComponent

/** Sends a ping to an endpoint, like `tabwire ping`. */
export function ping(endpointId: string): void {
  void act(async () => {
    const { outcome, response_status, duration_ms, error } = await callApi<PingReport>(
      'POST',
      `/webhook-endpoints/${encode(endpointId)}/test`,
    )
    if (outcome === 'succeeded') return `Ping delivered: ${response_status} in ${duration_ms} ms.`
    throw new Error(`Ping failed: ${error ?? outcome}`)
  })
}

/** Resends a delivery, like `tabwire deliveries resend`, and opens the new one. */
export function resend(deliveryId: string, fresh: boolean): void {
  void act(async () => {
    const { id } = await callApi<Delivery>('POST', `/deliveries/${encode(deliveryId)}/resend`, { fresh })
    go({ open: id })
    return `Resent as ${id} (${fresh ? 'new' : 'same'} signature).`
  })
}

/** Freezes or resumes the service clock, like `tabwire clock freeze`. */
export function freeze(frozen: boolean): void {
  void act(async () => {
    await callApi('POST', '/clock', { freeze: frozen })
    return frozen ? 'Clock frozen.' : 'Clock resumed.'
  })
}

/** Resets the service, like `tabwire state reset`. */
export function reset(): void {
  void act(async () => {
    await callApi('POST', '/reset', {})
    go({ open: '' })
    return 'Data reset. Locations and API keys were kept.'
  })
}

/** Claims items as a guest, like `tabwire guests claim`. */
export function claim(
  check: string,
  guest_name: string | null,
  items: readonly { external_id: string; quantity: number }[],
): void {
  void act(async () => {
    const made = await callApi<{ id: string }>('POST', `/checks/${encode(check)}/claims`, {
      guest_name,
      items,
    })
    return `Claimed as ${made.id}.`
  })
}

/** Releases a claim, like `tabwire guests release`. */
export function release(claimId: string): void {
  void act(async () => {
    await callApi('DELETE', `/claims/${encode(claimId)}`)
    return 'Claim released.'
  })
}

/** Pays claims, an amount, or with neither the whole balance, like `tabwire guests pay`. */
export function pay(
  check: string,
  body: { guest_name?: string | null; claim_ids?: string[]; amount_cents?: number },
): Promise<boolean> {
  return act(async () => {
    const paid = await callApi<{ id: string }>('POST', `/checks/${encode(check)}/payments`, body)
    return `Paid as ${paid.id}.`
  })
}

/** Refunds a payment, or an amount of it, like `tabwire guests refund`. */
export function refund(paymentId: string, amount_cents: number | undefined): Promise<boolean> {
  return act(async () => {
    await callApi('POST', `/payments/${encode(paymentId)}/refunds`, {
      ...(amount_cents !== undefined && { amount_cents }),
    })
    return 'Payment refunded.'
  })
}

/** Rates a check, like `tabwire guests rate`. */
export function rate(
  check: string,
  body: { guest_name: string | null; rating: number; comment: string | null },
): Promise<boolean> {
  return act(async () => {
    await callApi('POST', `/checks/${encode(check)}/feedback`, body)
    return 'Feedback sent.'
  })
}
