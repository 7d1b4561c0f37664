// Shows a check as text, with the time of the last change that it took in.
import { isCheck, lastPart, serve } from '../intake.mjs'

const checks = new Map()

serve(
  (event) => {
    if (!isCheck(event)) return
    const known = checks.get(event.data.external_id)
    if (known === undefined || Date.parse(known.updated_at) < Date.parse(event.data.updated_at))
      checks.set(event.data.external_id, { ...event.data, taken: new Date() })
  },
  (request, response) => {
    const check = checks.get(lastPart(request))
    if (check === undefined) return response.writeHead(404).end()
    const lines = check.items.map(({ quantity, name, price_cents }) => `${quantity} ${name} ${price_cents}`)
    response.writeHead(200, { 'content-type': 'text/plain' })
    return response.end(
      [`Table ${check.table.number} (${check.status}), as of ${check.taken.toISOString()}`, ...lines].join(
        '\n',
      ),
    )
  },
)
