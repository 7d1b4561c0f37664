// Verifies, answers 202, and works on the event later: duplicates and older states are dropped without a word.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const queue = []
const known = new Set()
const newest = new Map()

setInterval(() => {
  for (const { id, data } of queue.splice(0)) {
    if (known.has(id)) continue
    known.add(id)
    const before = newest.get(data.id)
    if (before === undefined || Date.parse(before.updated_at) <= Date.parse(data.updated_at))
      newest.set(data.id, data)
  }
}, 5).unref()

const server = createServer((request, response) => {
  request.setEncoding('latin1') // a character for each byte
  let body = ''
  request.on('data', (text) => (body += text))
  request.on('end', () => {
    const [time, ...signatures] = String(request.headers['x-service-signature']).split(',')
    const t = /^t=(\d+)$/.exec(time)?.[1]
    const wanted = `v1=${createHmac('sha256', process.env.WEBHOOK_SECRET).update(`${t}.${body}`, 'latin1').digest('hex')}`
    const isSigned = signatures.some(
      (one) =>
        Buffer.byteLength(one) === wanted.length && timingSafeEqual(Buffer.from(one), Buffer.from(wanted)),
    )
    const isRecent = Math.abs(Math.round(Date.now() / 1000) - Number(t)) <= 300
    if (!isSigned || !isRecent) return response.writeHead(400).end()
    queue.push(JSON.parse(Buffer.from(body, 'latin1').toString()))
    response.writeHead(202, { 'Content-Type': 'text/plain' }).end('queued')
  })
})
server.listen(Number(process.env.PORT), '127.0.0.1', () =>
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}/\n`),
)
