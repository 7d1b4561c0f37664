// Keeps one time per check, of states and payments alike, and drops what is older.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = new Map()

serve(
  ({ type, created_at, data }) => {
    const id = data.external_check_id ?? data.external_id
    const check = checks.get(id) ?? { newest: '', payments: {} }
    checks.set(id, check)
    if (type.startsWith('payment.')) check.payments[data.id] ??= data.amount_cents
    const isOlder = created_at < check.newest
    if (!isOlder) check.newest = created_at
    if (isCheck({ type }) && !isOlder) check.state = data
  },
  (request, response) => json(response, checks.get(lastPart(request))),
)
