/* `tabwire/signature/web` in workerd, the runtime of Cloudflare Workers, as one file. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Miniflare } from 'miniflare'

const worker = `
import { parseEvent, sign, verify } from './web.js'
export default {
  async fetch(request) {
    const payload = await request.arrayBuffer()
    const header = await sign({ payload, secret: 'whsec_x' })
    const { ok } = await verify({ payload, header, secret: 'whsec_x' })
    return Response.json({ ok, type: parseEvent(payload).type })
  },
}`
const web = await readFile(fileURLToPath(import.meta.resolve('tabwire/signature/web')), 'utf8')
const event = await readFile(fileURLToPath(import.meta.resolve('tabwire/fixtures/events/check.closed.json')))
const runtime = new Miniflare({
  modules: [
    { type: 'ESModule', path: 'worker.js', contents: worker },
    { type: 'ESModule', path: 'web.js', contents: web },
  ],
})
const answer = await runtime.dispatchFetch('http://shop.example/', { method: 'POST', body: event })
assert.deepEqual(await answer.json(), { ok: true, type: 'check.closed' })
await runtime.dispose()
process.stdout.write('passed\n')
