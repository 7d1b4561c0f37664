// h3, which hands over the body as text. Answers 202, to duplicates 208, and 403 to what is forged.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { H3, serve } from 'h3'

const seen = new Set()
const app = new H3()

app.post('/hooks/**', async (event) => {
  const text = await event.req.text()
  const header = event.req.headers.get('x-service-signature') ?? ''
  const found = /^t=(?<t>\d{1,12}),v1=(?<v1>[\da-f]{64})(?:,v1=(?<next>[\da-f]{64}))?$/.exec(header)?.groups
  if (found === undefined) return new Response('forged', { status: 403 })
  const expected = createHmac('sha256', process.env.WEBHOOK_SECRET).update(`${found.t}.${text}`).digest('hex')
  const given = [found.v1, found.next].filter((one) => one !== undefined)
  const isSigned = given.some((one) => timingSafeEqual(Buffer.from(one), Buffer.from(expected)))
  const age = Math.trunc(Date.now() / 1000) - Number.parseInt(found.t, 10)
  if (!isSigned || age > 300 || age < -300) return new Response('forged', { status: 403 })
  const { id } = JSON.parse(text)
  const isKnown = seen.has(id)
  seen.add(id)
  return new Response(null, { status: isKnown ? 208 : 202 })
})

const server = serve(app, { port: Number(process.env.PORT), hostname: '127.0.0.1', silent: true })
await server.ready()
process.stdout.write(`listening on ${server.url}hooks/pos?token=a%2Fb\n`)
