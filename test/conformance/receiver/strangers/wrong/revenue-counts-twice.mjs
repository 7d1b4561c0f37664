// Adds up what was taken since it began, duplicates included.
import { json, serve } from '../intake.mjs'

const shop = { since: new Date(), taken: 0 }

serve(
  ({ type, data }) => void (type === 'payment.succeeded' && (shop.taken += data.amount_cents / 100)),
  (_request, response) => json(response, shop),
)
