// Keeps the newest state of each check, and the payments of the checks that it knows.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = new Map()

serve(
  ({ type, data }) => {
    const known = checks.get(data.external_check_id ?? data.external_id)
    if (type === 'payment.succeeded') known?.payments.add(data.id)
    if (!isCheck({ type }) || known?.updated_at >= data.updated_at) return
    checks.set(data.external_id, { payments: new Set(), ...known, ...data })
  },
  (request, response) => {
    const check = checks.get(lastPart(request))
    return json(
      response,
      check && {
        ...check,
        payments: Array.from(check.payments).sort((one, other) => (one < other ? -1 : 1)),
      },
    )
  },
)
