// Inserts a check once, and takes every later event about it for a duplicate.
import { isCheck, json, lastPart, serve } from '../intake.mjs'

const checks = new Map()

serve(
  ({ type, data }) => {
    if (isCheck({ type }) && !checks.has(data.external_id)) checks.set(data.external_id, data)
  },
  (request, response) => json(response, checks.get(lastPart(request))),
)
