// Orders items by updated_at, but takes open or closed from whatever came last.
import { isCheck, json, serve } from '../intake.mjs'

const seen = new Set()
const checks = new Map()

serve(
  ({ id, type, data }) => {
    if (!isCheck({ type }) || seen.has(id)) return
    seen.add(id)
    const known = checks.get(data.id)
    const newer = known === undefined || known.updated_at < data.updated_at ? data : known
    checks.set(data.id, { ...newer, status: data.status })
  },
  (_request, response) => json(response, [...checks.values()]),
)
