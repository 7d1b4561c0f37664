// Web Crypto and fetch's Request, as on edge runtimes. Answers 201 with a body, and 422 to what is forged.
import { serve } from 'srvx'

const encoder = new TextEncoder()
const key = await crypto.subtle.importKey(
  'raw',
  encoder.encode(process.env.WEBHOOK_SECRET),
  { name: 'HMAC', hash: 'SHA-256' },
  false,
  ['verify'],
)

async function receive(request) {
  const refused = Response.json({ error: 'signature' }, { status: 422 })
  const body = new Uint8Array(await request.arrayBuffer())
  const fields = (request.headers.get('X-Service-Signature') ?? '').split(',').map((one) => one.split('='))
  const times = fields.filter(([name]) => name === 't').map(([, value]) => value)
  if (times.length !== 1 || !/^[0-9]+$/.test(times[0])) return refused
  const [t] = times
  if (Math.abs(Date.now() - Number(t) * 1000) > 300_000) return refused
  const prefix = encoder.encode(`${t}.`)
  const message = new Uint8Array(prefix.length + body.length)
  message.set(prefix)
  message.set(body, prefix.length)
  for (const [name, hex = ''] of fields) {
    if (name !== 'v1' || !/^[0-9a-f]{64}$/.test(hex)) continue
    const bytes = Uint8Array.from(hex.match(/../g), (digits) => Number.parseInt(digits, 16))
    if (await crypto.subtle.verify('HMAC', key, bytes, message))
      return Response.json({ ok: 1 }, { status: 201 })
  }
  return refused
}

const server = serve({ fetch: receive, port: Number(process.env.PORT), hostname: '127.0.0.1', silent: true })
await server.ready()
process.stdout.write(`listening on ${server.url}\n`)
