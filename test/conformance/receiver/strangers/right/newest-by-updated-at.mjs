// Keeps the newest state of each check by its updated_at, and needs no list of events for that.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = new Map()

serve(
  (event) => {
    if (!isCheck(event)) return 204
    const known = checks.get(event.data.external_id)
    if (known === undefined || known.updated_at < event.data.updated_at)
      checks.set(event.data.external_id, event.data)
    return 204
  },
  (request, response) => json(response, checks.get(lastPart(request))),
)
