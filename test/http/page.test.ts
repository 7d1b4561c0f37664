import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { describe, expect, it } from 'vitest'
import { check, item, openSimulator } from '../support/simulator.ts'
import { sitDown } from './guest-table/table-page-fixtures.ts'

describe('GET /t/{number}/{token}', () => {
  it('loads from the service only, is in no cache and sends no referrer', async () => {
    const simulator = await openSimulator()
    await simulator.push('a', check({ items: [item('x', { name: '<script>alert(1)</script>' })] }))
    const { path, ask } = await sitDown(simulator)
    const { status, headers, text } = await ask(null, 'GET', '')
    expect(status).toBe(200)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-request-id': expect.stringMatching(/^req_/) as string,
    })
    expect(text).toContain('&lt;script>alert(1)&lt;/script>')
    expect(text).not.toContain('<script>')
    expect(text).not.toContain(path.split('/')[3])
    const links = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link = '']) => link)
    expect(links.filter((link) => !link.startsWith('/assets/') && !link.startsWith('data:'))).toEqual([])
  })

  it('has a script and a style that may be cached for ever', async () => {
    const simulator = await openSimulator()
    const { text } = await (await sitDown(simulator)).ask(null, 'GET', '')
    const links = [...text.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, link = '']) => link)
    expect(links).toHaveLength(2)
    for (const link of links) {
      const { status, headers } = await simulator.call(`GET ${link}`, { key: null })
      expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
      expect(headers.get('content-type')).toMatch(link.endsWith('.js') ? /^text\/javascript/ : /^text\/css/)
    }
    expect((await simulator.call('GET /assets/other.js', { key: null })).status).toBe(404)
  })

  it.each([
    ['gzip, deflate, br', 'br'],
    ['GZIP;q=0.5, br;q=0', 'gzip'],
    ['deflate', null],
    ['br;q=0.0, gzip;q=0.000', null],
    [undefined, null],
  ] as const)('sends pages and assets to Accept-Encoding %s as %s', async (accepted, encoding) => {
    const simulator = await openSimulator()
    await simulator.push('a')
    const { ask, path } = await sitDown(simulator)
    const { text } = await ask(null, 'GET', '')
    const assets = [...text.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, link = '']) => link)
    for (const address of [path, '/', '/docs', '/docs/guides/ci', ...assets]) {
      const { headers, body } = await get(simulator.url + address, accepted)
      expect([address, headers['content-encoding'] ?? null]).toEqual([address, encoding])
      expect(headers.vary).toBe('Accept-Encoding')
      expect(headers['content-length']).toBe(String(body.length))
      const identity = await get(simulator.url + address)
      expect(unpack[encoding ?? 'identity'](body).equals(identity.body)).toBe(true)
    }
  })

  it('sends at most 65 kB compressed for the inspector: page, script and style', async () => {
    const simulator = await openSimulator()
    const page = await get(`${simulator.url}/`, 'br')
    const links = [
      ...brotliDecompressSync(page.body)
        .toString()
        .matchAll(/"(\/assets\/[^"]+)"/g),
    ]
    expect(links).toHaveLength(2)
    let bytes = page.body.length
    for (const [, link = ''] of links) bytes += (await get(simulator.url + link, 'br')).body.length
    expect(bytes).toBeLessThanOrEqual(65_000)
  })

  it.each(['', '/x', `/${'A'.repeat(22)}`])(
    'is a plain 404 page at a wrong address: /t/12%s',
    async (rest) => {
      const { call, push } = await openSimulator()
      await push('a')
      const { status, headers, text } = await call(`GET /t/12${rest}`, { key: null })
      expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(text).toContain('Table not found')
      expect(text).not.toContain('burger')
    },
  )

  it('answers HEAD, and no other method', async () => {
    const simulator = await openSimulator()
    const { ask } = await sitDown(simulator)
    expect(await ask(null, 'HEAD', '')).toMatchObject({ status: 200, text: '' })
    const posted = await ask(null, 'POST', '')
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })
})

/** Unlike `fetch`, it does not decompress. */
async function get(url: string, encodings?: string) {
  const { headers, body } = await request(
    url,
    encodings === undefined ? {} : { headers: { 'accept-encoding': encodings } },
  )
  return { headers, body: Buffer.from(await body.arrayBuffer()) }
}

const unpack = { br: brotliDecompressSync, gzip: gunzipSync, identity: (body: Buffer) => body }
