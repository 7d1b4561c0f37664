import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { storedCheck, type Peer } from './peer.ts'

/** Answers with the examples of an OpenAPI document, whatever was written; callbacks of the document are its webhooks. */
export const prism: Peer = {
  name: 'prism',
  package: '@stoplight/prism-cli',
  needsNode24: true,
  path: '/checks/',
  keepsNothing: true,
  prepare({ installed, directory, port, hook }) {
    const file = join(directory, 'openapi.json')
    writeFileSync(file, JSON.stringify(document(hook)))
    const program = join(installed, 'node_modules/@stoplight/prism-cli/dist/index.js')
    return [program, 'mock', file, '--host', '127.0.0.1', '--port', String(port), '-v', 'silent']
  },
}

function document(hook: string | undefined) {
  const content = { 'application/json': { schema: { type: 'object' }, example: storedCheck } }
  const responses = { 200: { description: 'The check.', content } }
  const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }]
  const told = { [hook ?? '']: { post: { requestBody: { content }, responses } } }
  const put = { parameters, requestBody: { content }, responses }
  return {
    openapi: '3.1.0',
    info: { title: 'Checks', version: '1' },
    paths: {
      '/checks/{id}': {
        get: { parameters, responses },
        put: hook === undefined ? put : { ...put, callbacks: { changed: told } },
      },
    },
  }
}
