/*
 * A TLS receiver that answers at once, or hangs; counts requests, and reports the count on request. Prints its address.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'

const [cert = '', key = '', mode = 'answer'] = process.argv.slice(2)
let received = 0
let gate: (() => void)[] | undefined = mode === 'gate' ? [] : undefined
let first = 0
let last = 0

const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
  request.resume()
  request.on('end', () => {
    if (mode === 'hang') return
    const answer = () => {
      received++
      last = performance.now()
      response.writeHead(204).end()
    }
    if (gate === undefined) answer()
    else gate.push(answer)
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(
    `${JSON.stringify({ url: `https://localhost:${(server.address() as AddressInfo).port}/` })}\n`,
  )
})
process.stdin.on('data', (chunk: Buffer) => {
  if (chunk.toString().includes('open')) {
    first = performance.now()
    const waiting = gate ?? []
    gate = undefined
    for (const answer of waiting) answer()
  }
  process.stdout.write(`${JSON.stringify({ received, milliseconds: last - first })}\n`)
})
process.stdin.on('end', () => process.exit(0))
