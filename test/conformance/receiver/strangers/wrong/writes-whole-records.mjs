// Reads the record of a check, changes it, and writes it back whole. What another delivery wrote meanwhile is lost.
import { setTimeout } from 'node:timers/promises'
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const DATABASE_MS = 50
const records = {}

serve(
  async ({ id, type, data }) => {
    const key = data.external_check_id ?? data.external_id
    const record = structuredClone(records[key] ?? { ids: [], check: null, payments: {} })
    await setTimeout(DATABASE_MS)
    if (record.ids.includes(id)) return
    record.ids.push(id)
    if (isCheck({ type }) && !(record.check?.updated_at >= data.updated_at)) record.check = data
    if (type === 'payment.succeeded') record.payments[data.id] = data.amount_cents
    records[key] = record
  },
  (request, response) => {
    const record = records[lastPart(request)]
    json(response, record && { check: record.check, payments: record.payments })
  },
)
