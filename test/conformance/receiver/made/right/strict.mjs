// As strict as can be: one path, POST, application/json, a User-Agent, 2 MiB, one v1, nothing else in the header.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const LIMIT = 2 * 1024 * 1024

function statusOf({ method, url, headers, headersDistinct }, body) {
  if (url !== '/webhooks') return 404
  if (method !== 'POST') return 405
  if (!/^application\/json *(;|$)/i.test(headers['content-type'] ?? '')) return 415
  if (headers['user-agent'] === undefined) return 400
  if (body.length > LIMIT) return 413
  const values = headersDistinct['x-service-signature'] ?? []
  const [, t, v1] = values.length === 1 ? (/^t=([1-9]\d{9}),v1=([0-9a-f]{64})$/.exec(values[0]) ?? []) : []
  if (t === undefined) return 400
  const mac = createHmac('sha256', process.env.WEBHOOK_SECRET).update(`${t}.`).update(body).digest('hex')
  if (!timingSafeEqual(Buffer.from(mac), Buffer.from(v1))) return 401
  return Math.abs(Date.now() / 1000 - Number(t)) > 300 ? 410 : 204
}

const server = createServer((request, response) => {
  const chunks = []
  request
    .on('data', (chunk) => chunks.push(chunk))
    .on('end', () => response.writeHead(statusOf(request, Buffer.concat(chunks))).end())
})
server.listen(Number(process.env.PORT), '127.0.0.1', () =>
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}/webhooks\n`),
)
