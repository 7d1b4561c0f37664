// Keeps all states of each check, and shows them in the order of their times.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = new Map()

serve(
  ({ type, data }) => {
    if (!isCheck({ type })) return
    const states = checks.get(data.external_id) ?? new Map()
    checks.set(data.external_id, states.set(data.updated_at, data))
  },
  (request, response) => {
    const states = [...(checks.get(lastPart(request))?.values() ?? [])]
    states.sort((one, other) => Date.parse(other.updated_at) - Date.parse(one.updated_at))
    return json(response, states.length === 0 ? undefined : { states, current: states[0] })
  },
)
