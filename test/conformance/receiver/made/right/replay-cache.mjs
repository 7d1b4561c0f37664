// Remembers the signatures that it has accepted, and rejects each when it comes again: a retry has a new one.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const accepted = new Map()

const server = createServer((request, response) => {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const header = request.headers['x-service-signature'] ?? ''
    const [, t, list = ''] = /^t=(\d{10})((?:,v1=[0-9a-f]{64})+)$/.exec(header) ?? []
    const now = Math.floor(Date.now() / 1000)
    if (t === undefined || Math.abs(now - Number(t)) > 300) return response.writeHead(403).end()
    const mac = createHmac('sha256', process.env.WEBHOOK_SECRET)
    const hex = mac.update(`${t}.`).update(Buffer.concat(chunks)).digest('hex')
    const isSigned = list
      .split(',v1=')
      .slice(1)
      .some((one) => timingSafeEqual(Buffer.from(one), Buffer.from(hex)))
    if (!isSigned) return response.writeHead(403).end()
    for (const [old, until] of accepted) if (until < now) accepted.delete(old)
    if (accepted.has(hex)) return response.writeHead(409).end()
    accepted.set(hex, Number(t) + 300)
    response.writeHead(200).end()
  })
})
server.listen(Number(process.env.PORT), '127.0.0.1', () =>
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}/\n`),
)
