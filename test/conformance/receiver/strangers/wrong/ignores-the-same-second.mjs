// Keeps the newest state of each check, by times without their milliseconds; an equal time is no newer one.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = new Map()
const seconds = ({ updated_at }) => updated_at.slice(0, 19)

serve(
  (event) => {
    if (!isCheck(event)) return
    const known = checks.get(event.data.external_id)
    if (known === undefined || seconds(known) < seconds(event.data))
      checks.set(event.data.external_id, event.data)
  },
  (request, response) => json(response, checks.get(lastPart(request))),
)
