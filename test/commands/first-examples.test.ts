import { readFileSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openAuthority } from '../../src/certificates/authority.ts'
import type { Delivery } from '../../src/model/delivery.ts'
import { sign } from '../../src/signature/index.ts'
import { secret, startReference } from '../conformance/receiver/check.ts'
import { isSoak, sampled } from '../soak/seeded.ts'
import { checkBody, fixtures, serve, spawnTabwire, type RunningService } from '../support/cli.ts'
import { startReceiver, type Receiver } from '../support/https-receiver.ts'

const manifest = JSON.parse(readFileSync(new URL('../../oclif.manifest.json', import.meta.url), 'utf8')) as {
  commands: Record<string, unknown>
}

/** The examples call every record by this, behind the prefix of its kind. */
const SAMPLE = '01K9YQ3S2M6W5VJ8T4R7N0ZBCD'

/** Expected output; of other commands, any output. */
const proofs: Record<string, RegExp> = {
  push: /^unchanged {2}two-top {2}/,
  ping: /^✓ ping answered 200/,
  sign: /^t=\d+,v1=[0-9a-f]{64}\n$/,
  verify: /^✓ The signature is valid/,
  report: /nothing to report/,
  mcp: /^$/,
  skill: /^---\nname: tabwire\n/,
  replay: /No problems found in 1 push/,
  openapi: /"openapi": ?"3\.1/,
  completion: /tabwire complete -- /,
  complete: /^wait\t/m,
  demo: /✓ the data of the last event and the check from the API are equal\n/,
  doctor: /✓ /,
  help: /^Push checks/,
  trigger: /✓ payment\.refunded/,
  'certs:create': /localhost\.pem/,
  'checks:show': /Copper Pan Burger/,
  'clock:advance': /^No delivery was due\./,
  'clock:freeze': /frozen/,
  'contract:check': / passed, 0 failed/,
  'deliveries:export': /curl .*X-Service-Signature: t=\d+,v1=/,
  'deliveries:resend': /^✓ Resent check\.created/,
  'deliveries:show': /delivered/,
  'deliveries:wait': /^✓ check\.created/,
  'endpoints:create': /whsec_/,
  exec: /^v\d+/m,
  'requests:show': /^call +GET \/v1\/checks\n/m,
  'events:show': /"Copper Pan Burger"/,
  'faults:set': /duplicate/,
  'guests:claim': /^claimed {2}two-top {2}Anna/,
  'guests:pay': /^paid {2}two-top/,
  'guests:rate': /★★★★★/,
  'guests:refund': /^refunded/,
  'guests:release': /^released/,
  'keys:create': /twk_/,
  'keys:revoke': /revoked/,
  'receiver:check': / passed, 0 failed/,
  'receiver:example': /^import /m,
  'scenario:explore': /^✓ \d+ runs, no counterexample/,
  'scenario:run': /passed/,
  'state:load': /checks {2,}1/,
  'state:save': /checks {2,}1/,
}

/** Those that run until they are told to end: what they say when they do what they are for. */
const lasting: Record<string, RegExp> = {
  start: /Tabwire is ready\./,
  tail: /Listening for deliveries/,
  listen: /Listening\./,
}

/** Added outside the soak: contract-check.test.ts runs all of it. */
const shorter: Record<string, string[]> = {
  'contract:check': ['--only', 'access'],
  'scenario:explore': ['--runs', '10'],
}

let service: RunningService
let receiver: Receiver
let state: string
/** Placeholders of the examples, and the values of this run. */
let standIns: [printed: string, real: string][]

beforeAll(async () => {
  service = await serve()
  const { cwd } = service
  await symlink(fixtures, join(cwd, 'fixtures'), 'junction')
  receiver = await openReceiver(join(cwd, '.tabwire'))
  state = renamed(JSON.stringify(await prepared()))
  await mkdir(join(cwd, '.tabwire', 'states'))
  await writeFile(join(cwd, '.tabwire', 'states', 'third-retry.json'), state)
  // The program that `exec` runs.
  await writeFile(join(cwd, 'package.json'), JSON.stringify({ scripts: { test: 'node --version' } }))
  const payload = JSON.stringify(checkBody())
  await writeFile(join(cwd, 'delivery.json'), payload)
  await service.run(['report', '--bundle', 'failure.json'])
  const { id } = await service.json<{ id: string }>('keys', 'create', '--scopes', 'read')
  const { url } = await startReference([process.execPath, join(fixtures, 'receivers', 'node.mjs')])
  const timestamp = Math.floor(Date.now() / 1000)
  standIns = [
    [`key_${SAMPLE}`, id],
    ['whsec_…', secret],
    ['t=1763748245,v1=5f2b…', sign({ payload, secret, timestamp })],
    ['check https://localhost:8443/webhooks', `check ${url}`],
  ]
})
afterAll(() => receiver.close())

async function openReceiver(directory: string): Promise<Receiver> {
  const tls = await (await openAuthority(directory)).issue(['127.0.0.1'])
  return startReceiver({ tls })
}

/** A check of two guests: what one claimed is open, what the other paid is paid, and all is delivered. */
async function prepared(): Promise<unknown> {
  await service.json('endpoints', 'create', receiver.url, '--events', 'check.created')
  await service.json('push', 'fixtures/checks/two-top.json')
  await service.json('guests', 'claim', 'two-top', 'lemonade=1', '--name', 'Anna')
  await service.json('guests', 'pay', 'two-top', '--amount', '10', '--name', 'Ben')
  await service.json('deliveries', 'wait', '--type', 'check.created')
  return (await service.call('GET', '/_sim/state')).json()
}

/** The same state, whose newest record of each kind is called as the examples call it. */
function renamed(text: string): string {
  const { endpoints, deliveries, claims, payments } = JSON.parse(text) as Record<string, { id: string }[]>
  const [delivery] = deliveries as unknown as Delivery[]
  const ids = [endpoints, deliveries, claims, payments].map((records) => records?.[0]?.id ?? '')
  return [...ids, delivery?.event_id ?? ''].reduce(
    (renaming, id) => renaming.replaceAll(id, id.replace(/_.*/, `_${SAMPLE}`)),
    text,
  )
}

describe('help starts with an example that does what it says', () => {
  test.each(sampled(Object.keys(manifest.commands), 3).map((id) => ({ id, name: id.replaceAll(':', ' ') })))(
    'tabwire $name',
    async ({ id, name }) => {
      const example = firstExample((await service.run([...name.split(' '), '--help'])).stdout)
      await service.call('DELETE', '/_sim/faults')
      expect((await service.call('PUT', '/_sim/state', JSON.parse(state))).status).toBe(200)
      // A state that is loaded empties the request log.
      const requestId = (await service.call('GET', '/v1/checks')).headers.get('x-request-id') ?? ''
      const known = [...standIns, [`req_${SAMPLE}`, requestId] as const]
      const args = words(known.reduce((text, [printed, real]) => text.replaceAll(printed, real), example))
      expect(args.slice(0, name.split(' ').length).join(' ')).toBe(name)
      const until = lasting[id]
      if (until !== undefined) return expectToLast(args, until)
      const { code, stdout, stderr } = await service.run([...args, ...(isSoak ? [] : (shorter[id] ?? []))])
      expect({ code, stderr }).toMatchObject({ code: 0 })
      expect(stdout).toMatch(proofs[id] ?? /\S/)
    },
  )
})

/** Below the summary there is nothing but examples at first; a comment behind one is not part of it. */
function firstExample(help: string): string {
  const [, example = ''] = /^[A-Z].*\.\n\nEXAMPLES\n {2}\$ (tabwire .*)\n/.exec(help) ?? []
  return example.replace(/ {3}# .*$/, '')
}

async function expectToLast(args: readonly string[], until: RegExp): Promise<void> {
  const running = await spawnTabwire(args, { cwd: service.cwd, env: { TABWIRE_PORT: '0' } })
  await running.until('stderr', until)
  running.child.kill('SIGINT')
  const { code } = await running.ended
  // Windows ends a process without asking it.
  if (process.platform !== 'win32') expect([0, 130]).toContain(code)
}

/** The words that a shell makes of a command, without `tabwire`; no first example needs more of a shell than that. */
function words(command: string): string[] {
  return Array.from(command.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, bare = '']) => quoted ?? bare).slice(1)
}
