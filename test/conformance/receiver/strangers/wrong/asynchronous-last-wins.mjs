// Answers first, and stores what comes later over what came before.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const seen = new Set()
const checks = new Map()
let work = Promise.resolve()

serve(
  (event) => {
    work = work.then(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      if (isCheck(event) && !seen.has(event.id)) checks.set(event.data.external_id, event.data)
      seen.add(event.id)
    })
    return 202
  },
  (request, response) => json(response, checks.get(lastPart(request))),
)
