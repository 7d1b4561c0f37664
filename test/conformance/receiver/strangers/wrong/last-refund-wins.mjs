// Keeps the newest state of each check. Of a payment, the refund that came last stays.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = {}

serve(
  ({ type, data }) => {
    const check = (checks[data.external_check_id ?? data.external_id] ??= { updated_at: '', payments: {} })
    if (isCheck({ type }) && check.updated_at < data.updated_at) Object.assign(check, data)
    if (type === 'payment.succeeded') check.payments[data.id] ??= data.refunded_cents
    if (type === 'payment.refunded') check.payments[data.id] = data.refunded_cents
  },
  (request, response) => json(response, checks[lastPart(request)]),
)
