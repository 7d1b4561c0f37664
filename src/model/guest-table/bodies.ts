import { z } from 'zod'
import { claimBody } from '../claim.ts'
import { feedbackBody } from '../feedback.ts'
import { payBody } from '../payment.ts'

/** At a table there may be several checks, so each request names the one it means. */
const ofCheck = { external_check_id: z.string().min(1).max(255) }

/** Bodies of the requests that a table's page makes: those of `/_sim`, and the check. */
export const tableClaimBody = claimBody.safeExtend(ofCheck)
export const tableFeedbackBody = feedbackBody.safeExtend(ofCheck)

/** Besides: what the guest was told to pay, and how the simulated card takes it. */
export const tablePayBody = payBody.safeExtend({
  ...ofCheck,
  expected_cents: z.int().min(0).optional(),
  card: z.enum(['approved', 'declined']).default('approved'),
})
