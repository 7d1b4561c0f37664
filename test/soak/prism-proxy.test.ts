import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fixtures, serve, spawnProcess } from '../support/cli.ts'
import { fetched } from '../support/fetched.ts'
import { isSoak } from './seeded.ts'

const prism = join(fetched('@stoplight/prism-cli@~5.14.2'), 'node_modules/@stoplight/prism-cli/dist/index.js')

/** Matches the proxy's complaints about responses; `contract check` sends bad requests on purpose. */
const wrong = /Violation: response.*/

test.skipIf(!isSoak)(
  'a validating proxy between contract check and the service finds no invalid response',
  async () => {
    const service = await serve()
    const args = ['proxy', `${fixtures}openapi.json`, service.url, '--host', '127.0.0.1', '--port', '0']
    const proxy = await spawnProcess(process.execPath, [prism, ...args], {})
    const [url = ''] = /http:\S+(?=\s*$)/.exec(await proxy.until('stdout', /is listening on \S+\s*$/)) ?? []
    // The proxy refuses invalid JSON itself, without an id.
    const target = [
      '--base-url',
      `${url}/v1`,
      '--api-key',
      service.key,
      '--skip',
      'id_on_broken_json',
      '--skip',
      'id_on_every_answer',
    ]
    const { code, stdout, stderr } = await service.run(['contract', 'check', ...target])
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
    // The proof that it looks: a status that is not documented.
    await service.call('PUT', '/_sim/faults', { faults: [{ on: 'api', error_rate: 1, error_status: 418 }] })
    const headers = { authorization: `Bearer ${service.key}` }
    expect((await fetch(`${url}/v1/locations`, { headers })).status).toBe(418)
    const told = await proxy.until('stdout', wrong)
    expect(told).toContain('has returned 409')
    expect(told.split('\n').filter((line) => wrong.test(line))).toEqual([
      expect.stringContaining('status code'),
    ])
    proxy.child.kill()
    await proxy.ended
  },
  // All checks through the proxy take half a minute without other load.
  300_000,
)
