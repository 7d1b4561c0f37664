// Shows how many deliveries it has received, applied and skipped, beside the state.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = new Map()
let inAll = 0

serve(
  ({ id, type, data }) => {
    const key = data.external_id ?? data.external_check_id
    const entry = checks.get(key) ?? { received: 0, duplicates: 0, stale: 0, version: 0, seen: [], paid: 0 }
    checks.set(key, entry)
    entry.received += 1
    inAll += 1
    if (entry.seen.includes(id)) return void (entry.duplicates += 1)
    entry.seen.push(id)
    if (!isCheck({ type })) return void (entry.paid += data.amount_cents)
    if (entry.state?.updated_at > data.updated_at) return void (entry.stale += 1)
    entry.version += 1
    entry.state = data
  },
  (request, response) => {
    const entry = checks.get(lastPart(request))
    json(response, entry && { ...entry, deliveries_in_all: inAll })
  },
)
