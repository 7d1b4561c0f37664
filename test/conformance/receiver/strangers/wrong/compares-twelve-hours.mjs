// Keeps the newest state of each check, by texts such as 2026-12-31 11:59:59.999 PM.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = new Map()
const text = ({ updated_at }) => {
  const [, date, hour, rest] = /^(.*)T(\d+):(.*)Z$/.exec(updated_at)
  const half = String(hour % 12 || 12).padStart(2, '0')
  return `${date} ${half}:${rest} ${hour < 12 ? 'AM' : 'PM'}`
}

serve(
  (event) => {
    if (!isCheck(event)) return
    const known = checks.get(event.data.external_id)
    if (known === undefined || text(known) <= text(event.data)) checks.set(event.data.external_id, event.data)
  },
  (request, response) => json(response, checks.get(lastPart(request))),
)
