// Answers 503 to changes of checks that it has not heard of, and so has them sent again.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = new Map()

serve(
  ({ type, data }) => {
    if (type === 'check.created' && !checks.has(data.external_id))
      checks.set(data.external_id, { ...data, paid: {} })
    const check = checks.get(data.external_id ?? data.external_check_id)
    if (check === undefined) return 503
    if (type === 'payment.succeeded') check.paid[data.id] = data.amount_cents
    if (isCheck({ type }) && check.updated_at < data.updated_at) Object.assign(check, data)
  },
  (request, response) => json(response, checks.get(lastPart(request))),
)
