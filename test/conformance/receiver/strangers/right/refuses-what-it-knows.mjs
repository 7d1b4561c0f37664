// Answers 409 to events that it knows and to states that are too old. That is no good answer, but its state is right.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = new Map()
const seen = new Set()

serve(
  (event) => {
    if (seen.has(event.id)) return 409
    seen.add(event.id)
    if (!isCheck(event)) return 200
    if (checks.get(event.data.id)?.updated_at > event.data.updated_at) return 409
    checks.set(event.data.id, event.data)
  },
  (request, response) => json(response, checks.get(lastPart(request))),
)
