// Validates what it has verified against the fields that the specification shows, and answers 422 to what is otherwise.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { z } from 'zod'

const check = z.object({
  table: z.object({ number: z.string() }),
  status: z.string(),
  items: z.array(
    z.object({
      external_id: z.string(),
      name: z.string(),
      quantity: z.number(),
      price_cents: z.int(),
      note: z.string().nullish(),
    }),
  ),
  totals: z.object({ subtotal_cents: z.int(), tax_cents: z.int(), total_cents: z.int() }),
})
const head = { id: z.string().min(1), created_at: z.iso.datetime() }
const envelope = z.union([
  z.object({ ...head, type: z.templateLiteral(['check.', z.string()]), data: check }),
  z.object({
    ...head,
    type: z.string().refine((type) => !type.startsWith('check.')),
    data: z.looseObject({}),
  }),
])

const server = createServer((request, response) => {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks)
    const [, t, list = ''] =
      /^t=(\d+)((?:,v1=[0-9a-f]{64})+)$/.exec(request.headers['x-service-signature']) ?? []
    const mac = createHmac('sha256', process.env.WEBHOOK_SECRET).update(`${t}.`).update(body).digest()
    const ok = list
      .split(',v1=')
      .slice(1)
      .some((hex) => timingSafeEqual(mac, Buffer.from(hex, 'hex')))
    if (!ok || Math.abs(Date.now() / 1000 - t) > 300) return response.writeHead(401).end()
    response.writeHead(envelope.safeParse(JSON.parse(body)).success ? 204 : 422).end()
  })
})
server.listen(Number(process.env.PORT), '127.0.0.1', () =>
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}/\n`),
)
