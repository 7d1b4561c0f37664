// Orders by the envelope's created_at, the only time in the specification, and keeps an extract under the check's id.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const tabs = {}

serve(
  ({ id, type, created_at, data }) => {
    if (!isCheck({ type })) return
    const at = Date.parse(created_at)
    if (tabs[data.id]?.at >= at) return
    tabs[data.id] = {
      at,
      lastEvent: id,
      Open: data.status === 'open',
      Total: data.totals.total_cents / 100,
      Lines: Object.fromEntries(
        data.items.map((item) => [item.external_id, `${item.quantity} x ${item.name}`]),
      ),
    }
  },
  (request, response) => json(response, tabs[lastPart(request)]),
)
