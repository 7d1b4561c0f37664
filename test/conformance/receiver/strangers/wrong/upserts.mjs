// Stores each state as it comes, and keeps no list of events at all.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = {}

serve(
  (event) => void (isCheck(event) && (checks[event.data.id] = { ...checks[event.data.id], ...event.data })),
  (request, response) => json(response, checks[lastPart(request)]),
)
