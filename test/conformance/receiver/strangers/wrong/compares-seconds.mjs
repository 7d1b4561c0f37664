// Keeps the newest state of each check, with times in a column of whole seconds.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = new Map()
const seconds = (check) => Math.floor(Date.parse(check.updated_at) / 1000)

serve(
  (event) => {
    if (!isCheck(event)) return
    const known = checks.get(event.data.external_id)
    if (known === undefined || seconds(known) <= seconds(event.data))
      checks.set(event.data.external_id, event.data)
  },
  (request, response) => json(response, checks.get(lastPart(request))),
)
