import { z } from 'zod'
import { guestName, type OfCheck } from './claim.ts'

/** What a guest thought of the meal, as it is stored (contract section 3). */
export interface Feedback extends OfCheck {
  id: string
  guest_name: string | null
  /** 1–5, 5 is best. */
  rating: number
  comment: string | null
  created_at: string
}

export type FeedbackView = Omit<Feedback, 'location_id'>

/** Feedback as `GET /feedback/{id}` and `feedback.received` show it. */
export function viewFeedback({ location_id: _location, ...view }: Feedback): FeedbackView {
  return view
}

/** Body of `POST /_sim/checks/{external_check_id}/feedback`; a comment is at most 1,000 characters long. */
export const feedbackBody = z.object({
  guest_name: guestName,
  rating: z.int().min(1).max(5),
  comment: z.string().max(1000).nullable().default(null),
})
export type FeedbackBody = z.infer<typeof feedbackBody>
