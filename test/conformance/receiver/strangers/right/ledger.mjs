// Keeps the ids of events in the order in which they came, and sums payments once each. Shows everything.
import { json, serve } from '../intake.mjs'

const accounts = {}

serve(
  (event) => {
    const { external_check_id, external_id = external_check_id } = event.data
    const account = (accounts[external_id] ??= { events: [], payments: {}, paid: 0 })
    if (account.events.includes(event.id)) return
    account.events.push(event.id)
    if (event.type !== 'payment.succeeded') return
    account.payments[event.data.id] = event.data.amount_cents
    account.paid = Object.values(account.payments).reduce((sum, amount) => sum + amount, 0)
  },
  (_request, response) => json(response, accounts),
)
