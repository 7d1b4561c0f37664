// Answers first; a worker takes one event after the other from the queue, and each takes it a moment.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = new Map()
const queue = []
let isWorking = false

async function work() {
  isWorking = true
  for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
    await new Promise((resolve) => setTimeout(resolve, 30))
    const known = checks.get(event.data.external_id)
    if (isCheck(event) && !(known?.updated_at >= event.data.updated_at))
      checks.set(event.data.external_id, event.data)
  }
  isWorking = false
}

serve(
  (event) => {
    queue.push(event)
    if (!isWorking) void work()
    return 202
  },
  (request, response) => json(response, checks.get(lastPart(request))),
)
