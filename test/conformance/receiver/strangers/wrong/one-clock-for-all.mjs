// Drops what is older than the newest it has seen, of whichever check that was.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = new Map()
let newest = ''

serve(
  (event) => {
    if (!isCheck(event) || event.data.updated_at < newest) return
    newest = event.data.updated_at
    checks.set(event.data.external_id, event.data)
  },
  (request, response) => json(response, checks.get(lastPart(request))),
)
