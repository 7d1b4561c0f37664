// Shows what a database adds: numbers of rows, random keys, times of receipt. And a time of the answer itself.
import { randomUUID } from 'node:crypto'
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const seen = new Set()
const rows = new Map()
let version = 0

serve(
  (event) => {
    if (seen.has(event.id)) return
    seen.add(event.id)
    version += 1
    const key = event.data.external_id ?? event.data.external_check_id
    const row = rows.get(key) ?? { row: rows.size + 1, uuid: randomUUID(), payments: {} }
    rows.set(key, row)
    Object.assign(row, { version, received_at: new Date().toISOString() })
    if (event.type === 'payment.succeeded')
      row.payments[randomUUID()] = { amount: event.data.amount_cents, received: Date.now() }
    else if (isCheck(event) && !(row.state?.updated_at >= event.data.updated_at)) row.state = event.data
  },
  (request, response) => {
    const row = rows.get(lastPart(request))
    json(response, row && { ...row, age_ms: Date.now() - Date.parse(row.received_at), now: new Date() })
  },
)
