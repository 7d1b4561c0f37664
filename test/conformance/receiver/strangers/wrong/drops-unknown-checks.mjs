// Answers 200 to changes of checks that it has not heard of, and drops them.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = new Map()

serve(
  ({ type, data }) => {
    const known = checks.get(data.external_id)
    if (type === 'check.created' && known === undefined) checks.set(data.external_id, data)
    else if (isCheck({ type }) && known?.updated_at < data.updated_at) checks.set(data.external_id, data)
  },
  (request, response) => json(response, checks.get(lastPart(request))),
)
