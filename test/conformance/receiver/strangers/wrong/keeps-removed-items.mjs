// Keeps the newest state of each item by its external id, and removes none.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = new Map()

serve(
  ({ type, data }) => {
    if (!isCheck({ type })) return
    const { status, updated_at } = data
    const check = checks.get(data.external_id) ?? { updated_at: '', items: new Map() }
    checks.set(data.external_id, check)
    if (check.updated_at < updated_at) Object.assign(check, { status, updated_at })
    for (const item of data.items) {
      const { at = '' } = check.items.get(item.external_id) ?? {}
      if (at < updated_at) check.items.set(item.external_id, { at: updated_at, item })
    }
  },
  (request, response) => {
    const check = checks.get(lastPart(request))
    return json(response, check && { ...check, items: Array.from(check.items.values(), ({ item }) => item) })
  },
)
