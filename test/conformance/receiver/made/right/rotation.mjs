// Verifies with an old and a new secret. Keeps connections open, sends informational answers first, and then chunks.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const secrets = [process.env.WEBHOOK_SECRET, process.env.NEXT_SECRET].filter((secret) => Boolean(secret))

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const [, t, v1] =
      /^t=(\d{10}),(?:v1=[^,]*,)*v1=([0-9a-f]{64})$/.exec(request.headers['x-service-signature']) ?? []
    const fresh = t !== undefined && Math.abs(Date.now() - t * 1000) <= 300_000
    const signed = Buffer.concat([Buffer.from(`${t}.`), ...chunks])
    const right = secrets.some(
      (secret) =>
        fresh &&
        timingSafeEqual(createHmac('sha256', secret).update(signed).digest(), Buffer.from(v1, 'hex')),
    )
    response.writeProcessing()
    response.writeEarlyHints({ link: '</style.css>; rel=preload' })
    response.writeHead(right ? 200 : 401, { 'Content-Type': 'application/json' })
    response.write('{"ok":')
    setImmediate(() => response.end(`${right}}`))
  })
})
server.listen(Number(process.env.PORT), '127.0.0.1', () =>
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}/\n`),
)
