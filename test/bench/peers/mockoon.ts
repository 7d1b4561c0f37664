import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { storedChecks, type Peer } from './peer.ts'

const BUCKET = 'chks'

/** A route for creating, reading, updating and deleting upon one of its data buckets, with a callback for webhooks. */
export const mockoon: Peer = {
  name: 'mockoon',
  package: '@mockoon/cli',
  path: '/checks/',
  prepare({ installed, directory, port, records, hook }) {
    const file = join(directory, 'environment.json')
    writeFileSync(file, JSON.stringify(environment(records, hook)))
    const program = join(installed, 'node_modules/@mockoon/cli/bin/run.js')
    const quietly = ['--repair', '--disable-log-to-file', '--disable-admin-api']
    return [program, 'start', '--data', file, '--hostname', '127.0.0.1', '--port', String(port), ...quietly]
  },
}

function environment(records: number, hook: string | undefined) {
  const [route, callback] = [randomUUID(), randomUUID()]
  const response = {
    uuid: randomUUID(),
    statusCode: 200,
    bodyType: 'DATABUCKET',
    databucketID: BUCKET,
    crudKey: 'id',
    default: true,
    callbacks: hook === undefined ? [] : [{ uuid: callback, latency: 0 }],
  }
  const told = { uuid: callback, id: 'hook', name: 'hook', method: 'post', uri: hook, bodyType: 'INLINE' }
  return {
    uuid: randomUUID(),
    name: 'checks',
    routes: [{ uuid: route, type: 'crud', endpoint: 'checks', responses: [response] }],
    rootChildren: [{ type: 'route', uuid: route }],
    data: [{ uuid: randomUUID(), id: BUCKET, name: 'checks', value: JSON.stringify(storedChecks(records)) }],
    callbacks: hook === undefined ? [] : [{ ...told, body: '{{{body}}}', headers: [] }],
  }
}
