// Rejects a forged event, and stores it nevertheless, as Go programs do without a return after http.Error.
import { createServer } from 'node:http'
import { isCheck, isGenuine, json, lastPart } from '../intake.mjs'

const checks = new Map()
const server = createServer(async (request, response) => {
  if (request.method === 'GET') return json(response, checks.get(lastPart(request)))
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  response.writeHead(isGenuine(request.headers['x-service-signature'], body) ? 204 : 400).end()
  const event = JSON.parse(body.toString('utf8'))
  const known = checks.get(event.data.external_id)
  if (isCheck(event) && !(known?.updated_at > event.data.updated_at))
    checks.set(event.data.external_id, event.data)
})
server.listen(Number(process.env.PORT), '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}/\n`)
})
