// Adds the amount of each payment event that arrives.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = {}
const paid = {}

serve(
  ({ type, data }) => {
    if (type === 'payment.succeeded')
      paid[data.external_check_id] = (paid[data.external_check_id] ?? 0) + data.amount_cents
    if (isCheck({ type }) && !(checks[data.external_id]?.updated_at >= data.updated_at))
      checks[data.external_id] = data
  },
  (request, response) => {
    const id = lastPart(request)
    json(response, checks[id] && { ...checks[id], paid_by_card: paid[id] ?? 0 })
  },
)
