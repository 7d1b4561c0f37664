import { act } from './actions.ts'
import { callApi } from './api.ts'

const encode = encodeURIComponent

/** Refunds a payment, or an amount of it, like `tabwire guests refund`. */
export function refund(paymentId: string, amount_cents: number | undefined): void {
  void act(async () => {
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
): void {
  void act(async () => {
    await callApi('POST', `/checks/${encode(check)}/feedback`, body)
    return 'Feedback sent.'
  })
}
