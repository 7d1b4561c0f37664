// Registered for payments: what else comes is answered 422, signed or not.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const server = createServer((request, response) => {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks)
    const [, t, v1] =
      /^t=(\d+),(?:v1=\w+,)*v1=([0-9a-f]{64})$/.exec(request.headers['x-service-signature']) ?? []
    if (t === undefined || Math.abs(Date.now() / 1000 - Number(t)) > 300) return response.writeHead(400).end()
    const mac = createHmac('sha256', process.env.WEBHOOK_SECRET).update(`${t}.`).update(body).digest()
    if (!timingSafeEqual(mac, Buffer.from(v1, 'hex'))) return response.writeHead(400).end()
    const { type } = JSON.parse(body)
    response.writeHead(/^payment\./.test(type) ? 200 : 422).end()
  })
})
server.listen(Number(process.env.PORT), '127.0.0.1', () =>
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}/\n`),
)
