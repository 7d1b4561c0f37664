import type { PushReport } from '../../client.ts'
import type { Check } from '../../model/check.ts'
import type { ClaimView } from '../../model/claim.ts'
import type { FeedbackView } from '../../model/feedback.ts'
import type { PaymentView } from '../../model/payment.ts'

/** One thing that happened in the demo, in order. */
export type Scene =
  | { type: 'registered'; endpoint_id: string; url: string }
  | { type: 'pushed'; what: string; check: Check; report: PushReport | null; status: number }
  | { type: 'refused'; what: string; status: number; code: string; message: string }
  | { type: 'guest'; what: string; resource: ClaimView | PaymentView | FeedbackView; check: Check }
  | {
      type: 'delivered'
      event_type: string
      event_id: string
      over_tls: boolean
      verified: boolean
      bytes: number
    }
  | { type: 'compared'; what: string; equal: boolean }
