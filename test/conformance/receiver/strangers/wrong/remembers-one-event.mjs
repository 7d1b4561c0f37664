// Compares the id of an event with that of the one before, and of no other.
import { json, lastPart, serve } from '../intake.mjs'

const accounts = new Map()
let last

serve(
  ({ id, type, data }) => {
    if (id === last) return
    last = id
    const key = data.external_id ?? data.external_check_id
    const account = accounts.get(key) ?? { paid: 0 }
    accounts.set(key, account)
    if (type === 'payment.succeeded') account.paid += data.amount_cents
  },
  (request, response) => json(response, accounts.get(lastPart(request))),
)
