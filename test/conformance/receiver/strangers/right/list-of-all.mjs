// Shows all checks, the last one first, each in a wrapper, below what was taken in all.
import { isCheck, json, serve } from '../intake.mjs'

const seen = new Set()
const entries = []
let revenue = 0

serve(
  ({ id, type, data }) => {
    if (seen.has(id)) return
    seen.add(id)
    const key = data.external_check_id ?? data.external_id
    let entry = entries.find(({ check }) => check.external_id === key)
    if (entry === undefined)
      entries.unshift((entry = { check: { external_id: key, updated_at: '' }, paid: 0, tips: [] }))
    if (type === 'payment.succeeded') {
      revenue += data.amount_cents
      entry.paid += data.amount_cents
      entry.tips.push(data.tip_cents)
    }
    if (isCheck({ type }) && entry.check.updated_at < data.updated_at) entry.check = data
  },
  (_request, response) => json(response, { restaurant: 'The Copper Pan', revenue, checks: entries }),
)
