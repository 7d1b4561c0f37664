// Keeps the newest state of each check, by the time of day alone.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = new Map()
const text = ({ updated_at }) => updated_at.slice(11)

serve(
  (event) => {
    if (!isCheck(event)) return
    const known = checks.get(event.data.external_id)
    if (known === undefined || text(known) <= text(event.data)) checks.set(event.data.external_id, event.data)
  },
  (request, response) => json(response, checks.get(lastPart(request))),
)
