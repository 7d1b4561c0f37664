import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { storedChecks, type Peer } from './peer.ts'

/** Version 0.17 keeps a JSON file and replaces it with each write; it knows no webhooks. */
export const jsonServer: Peer = {
  name: 'json-server',
  package: 'json-server@0.17.4',
  path: '/checks/',
  prepare({ installed, directory, port, records }) {
    const file = join(directory, 'db.json')
    writeFileSync(file, JSON.stringify({ checks: storedChecks(records) }))
    const program = join(installed, 'node_modules/json-server/lib/cli/bin.js')
    return [program, file, '--quiet', '--host', '127.0.0.1', '--port', String(port)]
  },
}
