// Shows no check at all, only what was taken since it began.
import { json, serve } from '../intake.mjs'

const payments = new Map()

serve(
  ({ type, data }) => void (type === 'payment.succeeded' && payments.set(data.id, data)),
  (_request, response) =>
    json(response, {
      payments: payments.size,
      taken:
        [...payments.values()].reduce(
          (sum, { amount_cents, tip_cents }) => sum + amount_cents + tip_cents,
          0,
        ) / 100,
    }),
)
