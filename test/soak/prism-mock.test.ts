import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { contractCases } from '../../src/conformance/contract/run.ts'
import type { ConformanceReport } from '../../src/conformance/report.ts'
import { emptyDirectory, spawnProcess, tabwire } from '../support/cli.ts'
import { fetched } from '../support/fetched.ts'
import { isSoak } from './seeded.ts'

const prism = join(fetched('@stoplight/prism-cli@~5.14.2'), 'node_modules/@stoplight/prism-cli/dist/index.js')

const check = { id: 'chk_1', items: [] }
const registered = { id: 12, url: 'https://a.example', signing_secret: 'whsec_always_the_same' }
const parameter = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'string' } })
const json = (example: object) => ({ content: { 'application/json': { example } } })
const answers = (status: number, example: object) => ({
  responses: { [status]: { description: 'as always', ...json(example) } },
})
const operation = (status: number, example: object) => ({
  requestBody: json({}),
  ...answers(status, example),
})

/** The paths of the specification, with the same answer for ever. */
const document = {
  openapi: '3.0.3',
  info: { title: 'A mock', version: '1' },
  paths: {
    '/locations': { get: answers(200, { data: [] }) },
    '/checks/external/{id}': {
      parameters: [parameter('id')],
      get: answers(200, check),
      put: operation(200, check),
    },
    '/webhook-endpoints': { post: operation(201, registered) },
    '/webhook-endpoints/{id}/test': { parameters: [parameter('id')], post: answers(200, {}) },
  },
}

// Nothing arrives, and one wait for that is enough.
const command = ['contract', 'check', '--json', '--skip', 'deliveries/ping']

test.skipIf(!isSoak)(
  'contract check against a Prism mock ends with a report of failed and skipped checks',
  async () => {
    const cwd = await emptyDirectory()
    await writeFile(join(cwd, 'mock.json'), JSON.stringify(document))
    const mock = await spawnProcess(process.execPath, [prism, 'mock', '-p', '0', 'mock.json'], { cwd })
    const said = await mock.until('stdout', /listening on http:\S+/)
    const baseUrl = /listening on (http:[\w.:/]+)/.exec(said)?.[1] ?? ''
    const wait = ['--wait', '1', '--api-key', 'any']
    const { code, stdout, stderr } = await tabwire([...command, '--base-url', baseUrl, ...wait])
    mock.child.kill()
    await mock.ended
    // The mock makes endpoints and has no way to delete them.
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringMatching(/^Webhook endpoints still registered there: \d+\. .*\n$/) as string,
    })
    const report = JSON.parse(stdout) as ConformanceReport
    expect(report.cases).toHaveLength(contractCases.length - 1)
    const outcomes = Object.fromEntries(
      report.cases.map(({ group, id, verdict }) => [`${group}/${id}`, verdict]),
    )
    expect(outcomes).toMatchObject({
      'requests/id_on_success': 'failed',
      'access/locations': 'passed',
      'access/no_key': 'failed',
      'checks/success_status': 'observed',
      'conflicts/removed': 'not_checked',
      'deliveries/signature_match': 'not_checked',
      'retries/schedule': 'not_checked',
    })
  },
)
