// A page of payments, with a row for each event.
import { serve } from '../intake.mjs'

const rows = []

serve(
  ({ type, data }) => {
    if (type !== 'payment.succeeded') return
    rows.push(`<li>${new Date().toISOString()} <b>${data.external_check_id}</b> ${data.amount_cents}</li>`)
  },
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(`<h1>${rows.length} payments</h1>\n<ul>\n${rows.join('\n')}\n</ul>\n`)
  },
)
