/* The least that acknowledges a push durably: h3, the schema of a push, one line that is synced before the answer. Prints its address. */
import { open } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { H3, toNodeHandler } from 'h3'
import { z } from 'zod'

const file = await open(process.argv[2] ?? '', 'a')

const cents = z.int().min(0)
const push = z.object({
  table: z.object({ number: z.string().min(1).max(64) }),
  status: z.enum(['open', 'closed']),
  items: z
    .array(
      z.object({
        external_id: z.string().min(1).max(255),
        name: z.string().min(1).max(255),
        quantity: z.number().positive(),
        price_cents: z.int(),
      }),
    )
    .max(1000),
  totals: z.object({ subtotal_cents: cents, tax_cents: cents, total_cents: cents }),
})

const app = new H3().put('/v1/checks/external/:id', async (event) => {
  const check = push.parse(await event.req.json())
  await file.appendFile(`${JSON.stringify(check)}\n`)
  await file.datasync()
  return check
})
const handler = toNodeHandler(app)
const server = createServer((request, response) => void handler(request as never, response as never))
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(
    `${JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })}\n`,
  )
})
