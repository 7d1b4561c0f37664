// A receiver that leaves the verification to Stripe's library, whose scheme is the same.
import { createServer } from 'node:http'
import Stripe from 'stripe'

const stripe = new Stripe('sk_unused')
const server = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  try {
    const header = request.headers['x-service-signature']
    stripe.webhooks.constructEvent(Buffer.concat(chunks), header, process.env.WEBHOOK_SECRET)
    response.writeHead(204).end()
  } catch {
    response.writeHead(400).end()
  }
})
server.listen(Number(process.env.PORT), '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}/\n`)
})
