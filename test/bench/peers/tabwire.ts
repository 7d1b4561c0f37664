import { API_KEY, run } from '../processes.ts'
import { register } from '../pushes.ts'
import type { Peer } from './peer.ts'

/** The baseline of the comparison. */
export const tabwire: Peer = {
  name: 'tabwire',
  path: '/v1/checks/external/',
  firstAsked: '/v1/locations',
  prepare: ({ directory, port }) => [
    'bin/run.js',
    'start',
    '--json',
    '--port',
    String(port),
    '--api-key',
    API_KEY,
    '--data-dir',
    directory,
    '--allow-http-loopback',
  ],
  async seedStore(url, { records, hook }) {
    // No fewer than the connections that send them.
    await run({ url, amount: Math.max(records, 32), checks: records, first: 1 })
    if (hook !== undefined) await register(url, hook)
  },
}
