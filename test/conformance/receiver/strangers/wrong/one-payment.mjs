// Keeps one payment per check, and with it the newest state.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = {}

serve(
  ({ type, data }) => {
    const check = (checks[data.external_check_id ?? data.external_id] ??= { updated_at: '' })
    if (isCheck({ type }) && check.updated_at < data.updated_at) Object.assign(check, data)
    if (type === 'payment.succeeded') check.last_payment = { amount: data.amount_cents, by: data.guest_name }
  },
  (request, response) => json(response, checks[lastPart(request)]),
)
