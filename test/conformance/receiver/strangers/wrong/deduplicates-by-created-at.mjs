// Takes a second event of one check with the same created_at for a duplicate. What is left it orders well.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const seen = new Set()
const checks = new Map()

serve(
  ({ type, created_at, data }) => {
    const key = `${created_at} ${data.external_id ?? data.external_check_id}`
    if (seen.has(key)) return
    seen.add(key)
    if (isCheck({ type }) && !(checks.get(data.external_id)?.updated_at > data.updated_at))
      checks.set(data.external_id, data)
  },
  (request, response) => json(response, checks.get(lastPart(request))),
)
