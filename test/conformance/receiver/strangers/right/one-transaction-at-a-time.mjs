// Reads and writes the record of a check in one transaction; other deliveries of the check wait for its end.
import { setTimeout } from 'node:timers/promises'
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const DATABASE_MS = 10
const records = {}
const ends = {}

serve(
  ({ id, type, data }) => {
    const key = data.external_check_id ?? data.external_id
    const transaction = async () => {
      const record = structuredClone(records[key] ?? { ids: [], check: null, paid: 0 })
      await setTimeout(DATABASE_MS)
      if (record.ids.includes(id)) return
      record.ids.push(id)
      if (isCheck({ type }) && !(record.check?.updated_at >= data.updated_at)) record.check = data
      if (type === 'payment.succeeded') record.paid += data.amount_cents
      records[key] = record
    }
    return (ends[key] = (ends[key] ?? Promise.resolve()).then(transaction))
  },
  (request, response) => {
    const record = records[lastPart(request)]
    json(response, record && { check: record.check, paid: record.paid })
  },
)
