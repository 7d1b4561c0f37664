// Takes a delivery for a duplicate when its signature header is known. A retry has a new one.
import { json, lastPart, serve } from '../intake.mjs'

const seen = new Set()
const paid = new Map()

serve(
  ({ type, data }, header) => {
    if (seen.has(header)) return
    seen.add(header)
    const key = data.external_check_id
    if (type === 'payment.succeeded') paid.set(key, (paid.get(key) ?? 0) + data.amount_cents)
  },
  (request, response) => {
    const sum = paid.get(lastPart(request))
    json(response, sum === undefined ? undefined : { paid: sum })
  },
)
