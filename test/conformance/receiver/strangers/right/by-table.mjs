// Keeps tables, of which each has its checks.
import { isCheck, json, serve } from '../intake.mjs'

const tables = {}

serve(
  (event) => {
    if (!isCheck(event)) return
    const { table, external_id, updated_at, status, totals } = event.data
    const checks = (tables[table.number] ??= [])
    const at = checks.findIndex((one) => one.pos === external_id)
    const state = { pos: external_id, since: updated_at, free: status === 'closed', due: totals.total_cents }
    if (at < 0) checks.push(state)
    else if (checks[at].since < updated_at) checks[at] = state
  },
  (_request, response) => json(response, { tables }),
)
