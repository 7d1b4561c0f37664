// Prints a ticket for each line of each state, as if events were changes.
import { isCheck, json, serve } from '../intake.mjs'

const tickets = []

serve(
  (event) => {
    if (!isCheck(event)) return
    for (const { external_id, quantity } of event.data.items)
      tickets.push({ check: event.data.external_id, external_id, quantity })
  },
  (_request, response) => json(response, tickets),
)
