// Writes events down, and works on all of them every 400 ms.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const inbox = new Map()
const checks = {}

setInterval(() => {
  for (const event of inbox.values())
    if (isCheck(event) && !(checks[event.data.id]?.updated_at >= event.data.updated_at))
      checks[event.data.id] = event.data
  inbox.clear()
}, 400)

serve(
  (event) => void inbox.set(event.id, event),
  (request, response) => json(response, checks[lastPart(request)]),
)
