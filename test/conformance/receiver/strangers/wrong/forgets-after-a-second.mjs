// Keeps the id of each event for a second.
import { json, lastPart, serve } from '../intake.mjs'

const KEPT_MS = 1_000
const seen = new Map()
const paid = new Map()

serve(
  ({ id, type, data }) => {
    if (seen.get(id) > Date.now() - KEPT_MS) return
    seen.set(id, Date.now())
    const key = data.external_check_id ?? data.external_id
    paid.set(key, (paid.get(key) ?? 0) + (type === 'payment.succeeded' ? data.amount_cents : 0))
  },
  (request, response) => {
    const cents = paid.get(lastPart(request))
    return json(response, cents === undefined ? undefined : { paid: cents })
  },
)
