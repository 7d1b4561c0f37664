// Has a queue of eight events, and answers 503 while it is full.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const MOST = 8
const WORK_MS = 5
const queue = []
const checks = new Map()

serve(
  (event) => {
    if (queue.length === MOST) return 503
    queue.push(event)
    return 202
  },
  (request, response) => json(response, checks.get(lastPart(request))),
)

setInterval(() => {
  const event = queue.shift()
  if (event === undefined || !isCheck(event)) return
  const { external_id, updated_at } = event.data
  if (!(checks.get(external_id)?.updated_at >= updated_at)) checks.set(external_id, event.data)
}, WORK_MS)
