// Takes its time before it verifies: DELAY_MS milliseconds, 3 s unless set.
import { createHmac, timingSafeEqual } from 'node:crypto'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const { DELAY_MS = '3000', WEBHOOK_SECRET, PORT } = process.env

http
  .createServer((request, response) => {
    let body = Buffer.alloc(0)
    request.on('data', (chunk) => (body = Buffer.concat([body, chunk])))
    request.on('end', async () => {
      await sleep(Number(DELAY_MS))
      const match = request.headers['x-service-signature']?.match(/^t=(\d+)((,v1=[0-9a-f]{64})+)$/)
      const now = Math.floor(Date.now() / 1000)
      if (!match || now - match[1] > 300 || match[1] - now > 300) return response.writeHead(400).end()
      const wanted = createHmac('sha256', WEBHOOK_SECRET).update(match[1]).update('.').update(body).digest()
      const candidates = match[2].split(',v1=').slice(1)
      const ok = candidates.some((hex) => timingSafeEqual(Buffer.from(hex, 'hex'), wanted))
      response.writeHead(ok ? 200 : 400).end(ok ? 'ok' : 'no')
    })
  })
  .listen(PORT, '127.0.0.1', function () {
    process.stdout.write(`listening on http://127.0.0.1:${this.address().port}/\n`)
  })
