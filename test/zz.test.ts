import { it } from 'vitest'
import { startSimulator } from '../src/simulator.ts'
import { connect } from 'node:net'
const raw = (port: number, text: string) => new Promise<string>((res) => { const s = connect(port, '127.0.0.1'); let out=''; s.on('data', d => {out += d}); s.on('close', () => res(out)); s.on('error', e => {out += String(e)}); s.write(text); setTimeout(()=>s.destroy(), 500) })
it('x', async () => {
  for (let i = 0; i < 5; i++) { const t = performance.now(); const s = await startSimulator({ port: 0 }); const t2 = performance.now(); await s.close(); console.log(t2 - t, performance.now() - t2) }
  const errors: unknown[] = []
  const s = await startSimulator({ port: 0, onError: (e) => errors.push(e) })
  const port = Number(new URL(s.url).port)
  const auth = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${s.apiKey}\r\n`
  for (const text of [
    'garbage\r\n\r\n', 'GET /v1/locations HTTP/1.1\r\n\r\n', `GET /v1/locations HTTP/1.1\r\n${auth}Bad Header: x\r\n\r\n`, `GET /v1/locations HTTP/1.1\r\n${auth}X: ${'x'.repeat(20000)}\r\n\r\n`,
    `PUT /v1/checks/external/a HTTP/1.1\r\n${auth}Content-Length: abc\r\n\r\n`, `PUT /v1/checks/external/a HTTP/1.1\r\n${auth}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `FOO /v1/locations HTTP/1.1\r\n${auth}\r\n`, `PROPFIND /v1/locations HTTP/1.1\r\n${auth}\r\n`, `TRACE /v1/locations HTTP/1.1\r\n${auth}\r\n`, `OPTIONS * HTTP/1.1\r\n${auth}\r\n`,
    `GET /v1/locations HTTP/1.1\r\n${auth}Expect: something\r\n\r\n`, `HEAD /v1/locations HTTP/1.1\r\n${auth}\r\n`, `HEAD /_sim/stream HTTP/1.1\r\n${auth}\r\n`,
    `GET /v1/checks/external/%ZZ HTTP/1.1\r\n${auth}\r\n`, `GET /%ZZ HTTP/1.1\r\n${auth}\r\n`, `GET /v1/%E0%A4%A HTTP/1.1\r\n${auth}\r\n`, `GET // HTTP/1.1\r\n${auth}\r\n`, `GET //v1/locations HTTP/1.1\r\n${auth}\r\n`, `GET http://evil.example/v1/locations HTTP/1.1\r\n${auth}\r\n`, `GET http://[bad/v1/locations HTTP/1.1\r\n${auth}\r\n`,
    `GET /v1/locations/ HTTP/1.1\r\n${auth}\r\n`, `GET /v1 HTTP/1.1\r\n${auth}\r\n`, `GET / HTTP/1.1\r\n${auth}\r\n`,`GET /v1/%6cocations HTTP/1.1\r\n${auth}\r\n`, `GET /v1/x/%2e%2e/locations HTTP/1.1\r\n${auth}\r\n`,
    `CONNECT a:1 HTTP/1.1\r\n${auth}\r\n`, `GET /v1/locations HTTP/1.1\r\n${auth}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`, `GET /v1/locations HTTP/1.0\r\n\r\n`, `GET /v1/locations HTTP/3.7\r\n${auth}\r\n`, `GET /v1/locations HTTP/1.1\r\n${auth}${auth}\r\n`,
    `PUT /v1/checks/external/a HTTP/1.1\r\n${auth}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    `PUT /v1/checks/external/a HTTP/1.1\r\n${auth}Content-Type: application/json\r\nContent-Length: 99999999\r\n\r\n`,
    `PUT /v1/checks/external/a HTTP/1.1\r\n${auth}Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{`,
    `GET /v1/locations HTTP/1.1\r\nHost: a b\r\n\r\n`, `GET /v1/locations HTTP/1.1\r\nHost: [::zz]:x/\r\n\r\n`, `GET /v1/locations HTTP/1.1\r\nHost: \r\n\r\n`,`GET /v1/locations HTTP/1.1\r\nHost: evil.example\r\n\r\n`,
  ]) { const a = await raw(port, text); console.log('>>>', text.slice(0, 60).replace(auth,'').replace(/\r\n/g,'|'), '\n', a.slice(0, 700)) }
  console.log(errors)
  await s.close()
})
