// Compares the times the wrong way round: the oldest state of each check stays. Payments are counted once each.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = new Map()
const payments = new Map()

serve(
  ({ type, data }) => {
    if (type === 'payment.succeeded') return void payments.set(data.id, data)
    const known = checks.get(data.external_id)
    if (isCheck({ type }) && !(known?.updated_at <= data.updated_at)) checks.set(data.external_id, data)
  },
  (request, response) => {
    const id = lastPart(request)
    const paid = [...payments.values()].filter((one) => one.external_check_id === id)
    const check = checks.get(id)
    json(response, check && { ...check, payments: paid.length })
  },
)
