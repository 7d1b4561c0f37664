// A receiver that verifies what express.json() has parsed, written out again.
import { createHmac, timingSafeEqual } from 'node:crypto'
import express from 'express'

const app = express()
app.use(express.json({ limit: '2mb' }))
app.post('/', (request, response) => {
  const [, t, rest] =
    /^t=([0-9]{1,15})((?:,v1=[0-9a-f]{64})+)$/.exec(request.get('x-service-signature') ?? '') ?? []
  if (t === undefined || Math.abs(Math.floor(Date.now() / 1000) - Number(t)) > 300)
    return response.sendStatus(400)
  const body = JSON.stringify(request.body)
  const expected = `v1=${createHmac('sha256', process.env.WEBHOOK_SECRET).update(`${t}.${body}`).digest('hex')}`
  const genuine = rest
    .slice(1)
    .split(',')
    .some((one) => timingSafeEqual(Buffer.from(one), Buffer.from(expected)))
  return response.sendStatus(genuine ? 204 : 400)
})
const server = app.listen(Number(process.env.PORT), '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}/\n`)
})
