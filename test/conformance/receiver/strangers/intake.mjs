// What these receivers share: the way in. What each keeps, and how it shows that, is its own affair.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const TOLERANCE_SECONDS = 300

/** Serves a receiver. `take` gets each genuine event and its signature header, and returns a status; `show` answers GET. */
export function serve(take, show) {
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') return show(request, response)
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const header = request.headers['x-service-signature']
    if (!isGenuine(header, body)) return response.writeHead(400).end()
    return response.writeHead((await take(JSON.parse(body.toString('utf8')), header)) ?? 200).end()
  })
  server.listen(Number(process.env.PORT), '127.0.0.1', () => {
    process.stdout.write(`listening on http://127.0.0.1:${server.address().port}/\n`)
  })
}

/** Returns true for a body with a right signature that is not too old. */
export function isGenuine(header, body) {
  const [, t, v1] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header ?? '') ?? []
  if (t === undefined || Math.abs(Date.now() / 1000 - Number(t)) > TOLERANCE_SECONDS) return false
  const expected = createHmac('sha256', process.env.WEBHOOK_SECRET).update(`${t}.`).update(body).digest()
  return timingSafeEqual(Buffer.from(v1, 'hex'), expected)
}

/** Answers with JSON, or 404 where there is nothing. */
export function json(response, value) {
  if (value === undefined) return response.writeHead(404).end('{"error":"not found"}')
  return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** The last part of the path, without the query. */
export function lastPart(request) {
  return decodeURIComponent(request.url.split('?', 1)[0].split('/').at(-1))
}

export const isCheck = (event) => event.type.startsWith('check.')

/** Serves a receiver that keeps the state of each check whose time, as `timeOf` reads it, is the largest. */
export function serveLargest(timeOf) {
  const checks = new Map()
  serve(
    (event) => {
      if (!isCheck(event)) return
      const known = checks.get(event.data.external_id)
      if (known === undefined || timeOf(known) <= timeOf(event.data))
        checks.set(event.data.external_id, event.data)
    },
    (request, response) => json(response, checks.get(lastPart(request))),
  )
}
