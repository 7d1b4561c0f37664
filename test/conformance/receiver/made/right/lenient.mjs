// As lenient as the specification allows: any order, blanks, semicolons, upper-case hex and base64.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

function isGenuine(header, body) {
  const parts = header.split(/[,;]/).map((part) => part.trim())
  const valuesOf = (name) =>
    parts
      .filter((part) => part.toLowerCase().startsWith(`${name}=`))
      .map((part) => part.slice(name.length + 1).trim())
  const times = valuesOf('t')
  if (times.length !== 1 || !/^\+?\d+$/.test(times[0])) return false
  const [t] = times
  if (!(Math.abs(Date.now() / 1000 - Number(t)) <= 300)) return false
  const mac = createHmac('sha256', process.env.WEBHOOK_SECRET).update(`${t}.`).update(body).digest()
  return valuesOf('v1').some((value) =>
    [/^[0-9a-f]{64}$/i.test(value) && 'hex', value.length === 44 && 'base64']
      .filter(Boolean)
      .map((encoding) => Buffer.from(value, encoding))
      .some((given) => given.length === 32 && timingSafeEqual(given, mac)),
  )
}

const server = createServer(async (request, response) => {
  try {
    const body = Buffer.concat(await request.toArray())
    const header = request.headers['x-service-signature'] ?? ''
    response.statusCode = isGenuine(header, body) ? 204 : 400
  } catch {
    response.statusCode = 400
  }
  response.end()
})
server.listen(Number(process.env.PORT), '127.0.0.1', () =>
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}/\n`),
)
