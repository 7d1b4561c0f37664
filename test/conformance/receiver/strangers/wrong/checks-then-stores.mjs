// Looks for the envelope id, and stores it after the payment was added. A second delivery meanwhile adds it again.
import { setTimeout } from 'node:timers/promises'
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const LOOKUP_MS = 50
const ids = new Set()
const checks = {}
const paid = {}

serve(
  async ({ id, type, data }) => {
    const isKnown = ids.has(id)
    await setTimeout(LOOKUP_MS)
    if (isKnown) return
    if (type === 'payment.succeeded')
      paid[data.external_check_id] = (paid[data.external_check_id] ?? 0) + data.amount_cents
    if (isCheck({ type }) && !(checks[data.external_id]?.updated_at >= data.updated_at))
      checks[data.external_id] = data
    ids.add(id)
  },
  (request, response) => {
    const id = lastPart(request)
    json(response, checks[id] && { ...checks[id], paid_by_card: paid[id] ?? 0 })
  },
)
