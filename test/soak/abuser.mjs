// A separate process, so that it does not slow the measuring one. Opens sockets that never end their headers, and
// meanwhile uploads oversized bodies, until the service has ended all of them. Prints the outcomes as JSON.
import { connect } from 'node:net'

const { port, key, slow, everyMs, uploads, bytes } = JSON.parse(process.argv[2] ?? '{}')
const part = Buffer.alloc(64 * 1024, 'x')
const push = `PUT /v1/checks/external/upload HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`

/** Resolves when the service has ended it, with the status that it sent and how long it took. */
function open(begin) {
  return new Promise((resolve) => {
    const since = performance.now()
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    let answer = ''
    socket.on('connect', () => begin(socket))
    socket.on('data', (data) => (answer += data.toString('latin1')))
    socket.on('end', () => socket.destroy())
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0)
      resolve({ status, ms: Math.round(performance.now() - since) })
    })
  })
}

/** One byte of a header now and then, which never comes to an end. */
function dripHeaders(socket) {
  socket.write('GET /v1/locations HTTP/1.1\r\nX-Slow: ')
  const timer = setInterval(() => socket.write('x'), everyMs)
  socket.on('close', () => clearInterval(timer))
}

/** As fast as it is taken; every other one does not say how long it will be. */
function upload(socket, isChunked) {
  socket.write(push + (isChunked ? 'Transfer-Encoding: chunked\r\n\r\n' : `Content-Length: ${bytes}\r\n\r\n`))
  let sent = 0
  const more = () => {
    while (!socket.destroyed && sent < bytes) {
      sent += part.length
      if (isChunked) socket.write(`${part.length.toString(16)}\r\n`)
      if (isChunked) socket.write(part)
      if (!socket.write(isChunked ? '\r\n' : part)) return
    }
    if (isChunked && !socket.destroyed) socket.write('0\r\n\r\n')
  }
  socket.on('drain', more)
  more()
}

const [dripped, uploaded] = await Promise.all([
  Promise.all(Array.from({ length: slow }, () => open(dripHeaders))),
  Promise.all(Array.from({ length: uploads }, (_, n) => open((socket) => upload(socket, n % 2 === 1)))),
])
process.stdout.write(JSON.stringify({ dripped, uploaded }))
