// Stores each state as it comes. Events that it knows are skipped.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const seen = new Set()
const checks = new Map()

serve(
  (event) => {
    if (seen.has(event.id)) return
    seen.add(event.id)
    if (isCheck(event)) checks.set(event.data.external_id, event.data)
  },
  (request, response) => json(response, checks.get(lastPart(request))),
)
