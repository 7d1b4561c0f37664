/* `npm run bench:one-push`: the named functions and the files that one push and its one delivery run through. Node 20 leaves
 * some functions out. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { Session } from 'node:inspector/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { compileSources } from './sources.ts'

/** Limits of a service that a reader can follow. */
const MAX = { functions: 200, files: 65 }

const compiled = compileSources('one-push')
const scratch = mkdtempSync(join(tmpdir(), 'tabwire-one-push-'))
const dataDirectory = join(scratch, '.tabwire')
const receiver = createServer((asked, answer) => asked.resume().on('end', () => answer.end()))
await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening))
const { port } = receiver.address() as AddressInfo

interface Started {
  url: string
  apiKey: string
  close(): Promise<void>
}
const { startSimulator } = (await import(pathToFileURL(join(compiled, 'simulator.js')).href)) as {
  startSimulator(options: object): Promise<Started>
}
const simulator = await startSimulator({ dataDir: dataDirectory, port: 0, allowHttpLoopback: true })
await call('POST', '/v1/webhook-endpoints', {
  url: `http://127.0.0.1:${port}/`,
  event_types: ['check.created'],
})
// The first push loads modules and opens the connection of deliveries.
await pushed('first')

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
await session.post('Profiler.takePreciseCoverage')
await pushed('second')
const { result } = await session.post('Profiler.takePreciseCoverage')
session.disconnect()
await simulator.close()
receiver.closeAllConnections()
receiver.close()
rmSync(scratch, { recursive: true, force: true })

const base = pathToFileURL(compiled).href
const byFile = result
  .filter(({ url }) => url.startsWith(`${base}/`))
  .map(({ url, functions }) => ({
    file: url.slice(base.length + 1).replace(/\.js$/, '.ts'),
    names: [
      ...new Set(
        functions
          .filter(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0)
          .map(({ functionName }) => functionName),
      ),
    ],
  }))
  .filter(({ names }) => names.length > 0)
  .toSorted((one, other) => (one.file < other.file ? -1 : 1))
const functions = byFile.reduce((sum, { names }) => sum + names.length, 0)
for (const { file, names } of byFile) process.stdout.write(`${file}: ${names.join(', ')}\n`)
process.stdout.write(
  `\n${functions} named functions (at most ${MAX.functions}) in ${byFile.length} files (at most ${MAX.files}).\n`,
)
process.exitCode = functions <= MAX.functions && byFile.length <= MAX.files ? 0 : 1

/** Pushes a new check, and returns when its delivery is recorded: each of the two is a line of the journal. */
async function pushed(id: string): Promise<void> {
  const before = linesOfJournal()
  await call('PUT', `/v1/checks/external/${id}`, {
    table: { number: '12' },
    status: 'open',
    items: [{ external_id: 'soup', name: 'Soup', quantity: 1, price_cents: 900 }],
    totals: { subtotal_cents: 900, tax_cents: 0, total_cents: 900 },
  })
  while (linesOfJournal() < before + 2) await setTimeout(5)
}

function linesOfJournal(): number {
  const path = join(dataDirectory, 'journal.ndjson')
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length : 0
}

function call(method: string, path: string, body: object): Promise<void> {
  return new Promise((done, failed) => {
    const headers = { authorization: `Bearer ${simulator.apiKey}`, 'content-type': 'application/json' }
    const sent = request(simulator.url + path, { method, headers }, (answer) => {
      const { statusCode = 0 } = answer
      answer
        .resume()
        .on('end', () => (statusCode < 300 ? done() : failed(new Error(`${method} ${path}: ${statusCode}`))))
    })
    sent.on('error', failed).end(JSON.stringify(body))
  })
}
