// Shows a page for people with all checks, in the order in which they were heard of.
import { isCheck, serve } from '../intake.mjs'

const rows = new Map()

serve(
  (event) => {
    if (!isCheck(event)) return
    const known = rows.get(event.data.external_id)
    if (known === undefined || known.data.updated_at < event.data.updated_at)
      rows.set(event.data.external_id, { data: event.data, heard: new Date() })
  },
  (_request, response) => {
    const cells = ({ data, heard }) =>
      [
        data.external_id,
        data.status,
        `$${(data.totals.total_cents / 100).toFixed(2)}`,
        data.items.length,
        heard.toISOString(),
      ]
        .map((cell) => `<td>${cell}</td>`)
        .join('')
    const body = [...rows.values()].map((row) => `<tr>${cells(row)}</tr>`).join('')
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(`<!doctype html><title>Checks</title><p>${rows.size} checks</p><table>${body}</table>`)
  },
)
