// Counts every payment and stores every state, whenever and however often it comes.
import { isCheck, json, serve } from '../intake.mjs'

const shop = {}

serve(
  ({ type, data }) => {
    const check = (shop[data.external_check_id ?? data.external_id] ??= { paid: 0, received_at: Date.now() })
    if (isCheck({ type })) check.state = data
    else check.paid += data.amount_cents
  },
  (_request, response) => json(response, shop),
)
