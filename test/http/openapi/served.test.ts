import { describe, expect, it } from 'vitest'
import { openApiText } from '../../../src/http/openapi/document.ts'
import { errorOf, openSimulator } from '../../support/simulator.ts'

describe('GET /openapi.json', () => {
  it('is public, and equals the output of tabwire openapi with this service as server', async () => {
    const simulator = await openSimulator({ serviceName: 'Acme' })
    const { status, headers, text } = await simulator.call('GET /openapi.json', { key: null })
    expect(status).toBe(200)
    expect(headers.get('x-request-id')).toMatch(/^req_/)
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(text).toBe(await openApiText({ url: simulator.url, serviceName: 'Acme' }))
    const byName = await fetch(`http://localhost:${simulator.port}/openapi.json`)
    expect(await byName.json()).toMatchObject({ servers: [{ url: `http://localhost:${simulator.port}` }] })
    const withoutHost = await simulator.raw('GET /openapi.json HTTP/1.0\r\n\r\n')
    expect(withoutHost.json).toMatchObject({ servers: [{ url: simulator.url }] })
  })

  it('names the server by the public URL behind a proxy that ends TLS', async () => {
    const simulator = await openSimulator({ publicUrl: 'https://sandbox.example.com' })
    const { json } = await simulator.raw(
      'GET /openapi.json HTTP/1.1\r\nHost: sandbox.example.com\r\nConnection: close\r\n\r\n',
    )
    expect(json).toMatchObject({ servers: [{ url: 'https://sandbox.example.com' }] })
  })

  it('answers a conditional request with 304, and is not in the log', async () => {
    const { call, client } = await openSimulator()
    const etag = (await call('GET /openapi.json')).headers.get('etag') ?? ''
    const again = await call('GET /openapi.json', { headers: { 'if-none-match': `"other", W/${etag}` } })
    expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: '' })
    expect(again.headers.get('x-request-id')).toMatch(/^req_/)
    expect((await call('GET /openapi.json', { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
    expect((await client.requests.list()).data).toEqual([])
  })

  it('refuses pages of other origins, and answers 405 to other methods', async () => {
    const { call } = await openSimulator()
    const foreign = await call('GET /openapi.json', { headers: { origin: 'https://elsewhere.example' } })
    expect(errorOf(foreign).code).toBe('forbidden_origin')
    const posted = await call('POST /openapi.json')
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })
})
