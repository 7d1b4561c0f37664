// Express with a raw body. Reads the header part by part, accepts upper-case hex, and answers with JSON.
import { createHmac, timingSafeEqual } from 'node:crypto'
import express from 'express'

const app = express()
app.disable('x-powered-by')

app.post('/', express.raw({ type: () => true, limit: '2mb' }), (request, response) => {
  const parts = new Map()
  for (const part of (request.get('X-Service-Signature') ?? '').split(',')) {
    const [key = '', value = ''] = part.trim().split('=', 2)
    parts.set(key, [...(parts.get(key) ?? []), value])
  }
  const [t, ...more] = parts.get('t') ?? []
  if (!/^\d+$/.test(t ?? '') || more.length > 0) return response.status(401).json({ error: 'no time' })
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  const mac = createHmac('sha256', process.env.WEBHOOK_SECRET).update(`${t}.`).update(body).digest()
  const isRight = (parts.get('v1') ?? []).some((hex) => {
    const given = Buffer.from(hex, 'hex')
    return hex.length === 64 && given.length === mac.length && timingSafeEqual(given, mac)
  })
  if (!isRight) return response.status(401).json({ error: 'wrong signature' })
  if (Math.abs(Date.now() / 1000 - Number(t)) > 300) return response.status(401).json({ error: 'too old' })
  return response.status(200).json({ received: true })
})

const server = app.listen(Number(process.env.PORT), '127.0.0.1', () =>
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}/\n`),
)
