import { z } from 'zod'
import { guestName, type OfCheck } from './claim.ts'

/** A rating in the store (contract section 3). */
export interface Feedback extends OfCheck {
  id: string
  guest_name: string | null
  /** 1 (worst) to 5 (best). */
  rating: number
  comment: string | null
  created_at: string
}

export type FeedbackView = Omit<Feedback, 'location_id'>

/** Returns feedback as `GET /feedback/{id}` and `feedback.received` show it. */
export function viewFeedback({ location_id: _location, ...view }: Feedback): FeedbackView {
  return view
}

/** Body of `POST /_sim/checks/{external_check_id}/feedback`. A comment has at most 1,000 characters. */
export const feedbackBody = z.object({
  guest_name: guestName,
  rating: z.int().min(1).max(5),
  comment: z.string().max(1000).nullable().default(null),
})
export type FeedbackBody = z.infer<typeof feedbackBody>
