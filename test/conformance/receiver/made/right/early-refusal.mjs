// Refuses by the headers alone where it can, before the body has come; on IPv6, at a path with a token.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const server = createServer((request, response) => {
  const refuse = (status) => response.writeHead(status, { Connection: 'close' }).end('refused\n')
  if (new URL(request.url, 'http://localhost').searchParams.get('token') !== 's3cret') return refuse(404)
  const values = request.headersDistinct['x-service-signature']
  if (values?.length !== 1) return refuse(401)
  const [, t, list] = /^t=([0-9]{10})((?:,v1=[0-9a-f]{64})+)$/.exec(values[0]) ?? []
  if (t === undefined) return refuse(400)
  if (Math.abs(Math.floor(Date.now() / 1000) - t) > 300) return refuse(408)
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const mac = createHmac('sha256', process.env.WEBHOOK_SECRET).update(`${t}.`)
    const wanted = mac.update(Buffer.concat(chunks)).digest()
    const genuine = list
      .match(/[0-9a-f]{64}/g)
      .some((hex) => timingSafeEqual(Buffer.from(hex, 'hex'), wanted))
    if (genuine) response.writeHead(226).end()
    else refuse(403)
  })
})
server.listen(Number(process.env.PORT), '::1', () =>
  process.stdout.write(`listening on http://[::1]:${server.address().port}/hooks/x?token=s3cret&v=1\n`),
)
