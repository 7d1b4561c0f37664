import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { storedChecks, type Peer, type Place } from './peer.ts'

/** A service of one's own making, as its documentation shows it; none of its built-in services is about checks. */
export const emulate: Peer = {
  name: 'emulate',
  package: 'emulate@0.12.2',
  needsNode24: true,
  path: '/checks/',
  prepare: (place) => start(place, undefined),
}

/** The same with its state in a file, which it does when it is asked to. */
export const emulateKept: Peer = {
  ...emulate,
  name: 'emulate, with persistence',
  prepare: (place) => start(place, join(place.directory, 'state.json')),
}

function start(place: Place, persistence: string | undefined): string[] {
  const { installed, directory, port, records, hook } = place
  const checks = Object.fromEntries(storedChecks(records).map((check) => [check.id, check]))
  const state = join(directory, 'seed.json')
  writeFileSync(state, JSON.stringify({ checks }))
  // Inside of where it is installed, so that what it imports is found.
  const folder = join(installed, `service-${port}`)
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'emulate.config.mjs')
  writeFileSync(file, config({ state, port, persistence, hook }))
  const program = join(installed, 'node_modules/emulate/dist/index.js')
  return [program, 'start', '--config', file, '--port', String(port)]
}

interface Config {
  state: string
  port: number
  persistence: string | undefined
  hook: string | undefined
}

function config({ state, port, persistence, hook }: Config): string {
  const subscription = { url: hook, events: ['*'], active: true, secret: 'whsec_bench', owner: 'bench' }
  return `
import { readFileSync } from 'node:fs'
import { defineConfig, defineEmulator } from 'emulate'
const checks = defineEmulator({
  name: 'checks',
  state: () => JSON.parse(readFileSync(${JSON.stringify(state)}, 'utf8')),
  setup({ app, state, webhooks }) {
    ${hook === undefined ? '' : `webhooks.register(${JSON.stringify(subscription)})`}
    app.get('/checks/:id', (c) => c.json(state.checks[c.req.param('id')] ?? {}))
    app.put('/checks/:id', async (c) => {
      const check = await c.req.json()
      state.checks[c.req.param('id')] = check
      ${hook === undefined ? '' : "void webhooks.dispatch('check.updated', undefined, check, 'bench')"}
      return c.json(check)
    })
  },
})
const service = { emulator: checks, ...${JSON.stringify({ port, persistence })} }
export default defineConfig({ services: { checks: service } })
`
}
