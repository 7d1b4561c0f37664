// Takes a hundred requests a second, and answers 429 to more.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

let left = 100
setInterval(() => (left = 100), 1000).unref()

const server = createServer((request, response) => {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    left -= 1
    if (left < 0) return response.writeHead(429, { 'Retry-After': '1' }).end()
    const [, t, list = ''] =
      /^t=(\d+)((?:,v1=[0-9a-f]{64})+)$/.exec(request.headers['x-service-signature']) ?? []
    if (t === undefined || Math.abs(Date.now() / 1000 - t) > 300) return response.writeHead(403).end()
    const mac = createHmac('sha256', process.env.WEBHOOK_SECRET)
      .update(`${t}.`)
      .update(Buffer.concat(chunks))
      .digest()
    const ok = list
      .split(',v1=')
      .slice(1)
      .some((hex) => timingSafeEqual(mac, Buffer.from(hex, 'hex')))
    response.writeHead(ok ? 200 : 403).end()
  })
})
server.listen(Number(process.env.PORT), '127.0.0.1', () =>
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}/\n`),
)
