// Keeps the newest state of each check, and counts payments, repeated ones as well.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = {}

serve(
  ({ type, data }) => {
    const check = (checks[data.external_check_id ?? data.external_id] ??= { updated_at: '', payments: 0 })
    if (isCheck({ type }) && check.updated_at < data.updated_at) Object.assign(check, data)
    if (type === 'payment.succeeded') check.payments += 1
  },
  (request, response) => json(response, checks[lastPart(request)]),
)
