/* Baseline of the framework: parses the body and sends it back. Prints its address. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { H3, toNodeHandler } from 'h3'

const app = new H3().put('/v1/checks/external/:id', (event) => event.req.json())
const handler = toNodeHandler(app)
const server = createServer((request, response) => void handler(request as never, response as never))
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(
    `${JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })}\n`,
  )
})
