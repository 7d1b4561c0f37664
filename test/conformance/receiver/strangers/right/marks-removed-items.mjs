// Keeps the removed items of each check with a mark, as tills do that print voids.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = new Map()

serve(
  ({ type, data }) => {
    if (!isCheck({ type })) return
    const states = checks.get(data.external_id) ?? []
    checks.set(data.external_id, [...states.filter(({ updated_at }) => updated_at !== data.updated_at), data])
  },
  (request, response) => {
    const states = checks.get(lastPart(request))
    if (states === undefined) return json(response, undefined)
    states.sort((one, other) => Date.parse(one.updated_at) - Date.parse(other.updated_at))
    const items = new Map()
    for (const state of states) {
      for (const item of items.values()) item.removed = true
      for (const item of state.items) items.set(item.external_id, { ...item, removed: false })
    }
    return json(response, { ...states.at(-1), items: [...items.values()] })
  },
)
