// Closes the connection of a forged delivery.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const server = createServer((request, response) => {
  const hash = createHmac('sha256', process.env.WEBHOOK_SECRET)
  const [, t, list = ''] =
    /^t=(\d+)((?:,v1=[0-9a-f]{64})+)$/.exec(request.headers['x-service-signature']) ?? []
  if (t === undefined || Math.abs(Date.now() / 1000 - Number(t)) > 300) return request.socket.destroy()
  hash.update(`${t}.`)
  request.on('data', (chunk) => hash.update(chunk))
  request.on('end', () => {
    const mac = hash.digest()
    const ok = list
      .split(',v1=')
      .slice(1)
      .some((hex) => timingSafeEqual(mac, Buffer.from(hex, 'hex')))
    if (ok) response.writeHead(200).end()
    else request.socket.resetAndDestroy()
  })
})
server.listen(Number(process.env.PORT), '127.0.0.1', () =>
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}/\n`),
)
