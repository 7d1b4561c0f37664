// Keeps the ids of the last hundred events.
import { json, lastPart, serve } from '../intake.mjs'

const MOST = 100
const seen = []
const paid = new Map()

serve(
  ({ id, type, data }) => {
    if (seen.includes(id)) return
    seen.push(id)
    if (seen.length > MOST) seen.shift()
    const key = data.external_check_id ?? data.external_id
    paid.set(key, (paid.get(key) ?? 0) + (type === 'payment.succeeded' ? data.amount_cents : 0))
  },
  (request, response) => {
    const cents = paid.get(lastPart(request))
    return json(response, cents === undefined ? undefined : { paid: cents })
  },
)
