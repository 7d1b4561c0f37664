// Adds each payment to what the check has paid, and takes that over from each newer state of the check.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const seen = new Set()
const checks = new Map()

serve(
  ({ id, type, data }) => {
    if (seen.has(id)) return
    seen.add(id)
    const check = checks.get(data.external_check_id ?? data.external_id) ?? { updated_at: '', paid: 0 }
    if (isCheck({ type }) && check.updated_at < data.updated_at)
      checks.set(data.external_id, { updated_at: data.updated_at, paid: data.paid_cents })
    else if (type === 'payment.succeeded') check.paid += data.amount_cents
  },
  (request, response) => json(response, checks.get(lastPart(request))),
)
