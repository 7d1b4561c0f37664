import { checkKey } from '../model/check.ts'
import { viewFeedback, type Feedback, type FeedbackBody } from '../model/guests/records.ts'
import { put } from '../model/records.ts'
import { eventOf, foundCheck, ofCheck, type CheckAddress } from './guest-change.ts'
import type { Operation } from './operation.ts'

interface LeaveFeedback extends CheckAddress, FeedbackBody {}

function reads(address: LeaveFeedback) {
  return { checks: { collection: 'checks', index: 'external', key: checkKey(address) } } as const
}

/**
 * `POST /_sim/checks/{external_check_id}/feedback`: a guest rates the meal, any number of times, even after the check
 * is closed.
 */
export const leaveFeedback = {
  reads,
  decide({ checks }, command, { now, newId }) {
    const check = foundCheck(checks, command)
    const { guest_name, rating, comment } = command
    const feedback: Feedback = {
      id: newId('fbk'),
      ...ofCheck(check),
      guest_name,
      rating,
      comment,
      created_at: now.toISOString(),
    }
    return {
      reply: feedback,
      writes: [put('feedback', feedback)],
      events: [eventOf(check, 'feedback.received', viewFeedback(feedback))],
    }
  },
} satisfies Operation<LeaveFeedback, ReturnType<typeof reads>, Feedback>
