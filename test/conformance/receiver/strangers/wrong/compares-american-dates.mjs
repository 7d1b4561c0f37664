// Keeps the newest state of each check, by texts such as 12/31/2026 23:59:59.999.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = new Map()
const text = ({ updated_at }) => {
  const [, year, month, day, time] = /^(\d+)-(\d+)-(\d+)T(.*)Z$/.exec(updated_at)
  return `${month}/${day}/${year} ${time}`
}

serve(
  (event) => {
    if (!isCheck(event)) return
    const known = checks.get(event.data.external_id)
    if (known === undefined || text(known) <= text(event.data)) checks.set(event.data.external_id, event.data)
  },
  (request, response) => json(response, checks.get(lastPart(request))),
)
