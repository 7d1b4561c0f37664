import { beforeAll, describe, expect, test } from 'vitest'
import type { Report } from '../../src/model/simulator/report.ts'
import { checkBody, serve, tabwire, type RunningService } from '../support/cli.ts'
import { openHttpServer } from '../support/http-server.ts'

const PUSH = '/v1/checks/external/a'
const wrongTotals = { subtotal_cents: 1, tax_cents: 1, total_cents: 1 }

let clean: RunningService
let faulty: RunningService
beforeAll(async () => {
  ;[clean, faulty] = await Promise.all([serve(), serve()])
  await faulty.call('PUT', PUSH, checkBody({ totals: wrongTotals }))
  return async () => {
    await Promise.all([clean.stop(), faulty.stop()])
  }
})

describe('tabwire report', () => {
  test('exits with 0 without pushes, or without findings', async () => {
    expect(await clean.run(['report'])).toMatchObject({
      code: 0,
      stdout: 'No pushes, so there is nothing to report.\n',
    })
    await clean.call('PUT', PUSH, checkBody())
    expect(await clean.run(['report'])).toMatchObject({
      code: 0,
      stdout: '✓ No problems found in 1 push.\n',
    })
  })

  test('says that a service of an early version, whose report lacks fields, must be restarted', async () => {
    const { url } = await openHttpServer((_request, response) =>
      response.writeHead(200, { 'X-Request-Id': 'req_1' }).end('{"since":null,"pushes":1,"findings":[]}'),
    )
    const { code, stdout, stderr } = await tabwire(['report', '--url', url, '--api-key', 'twk_a'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(
      `The service at ${url} returned a report without all fields. It may run another version: restart it with \`tabwire start\`.`,
    )
  })

  test('exits with 3 when all calls had a wrong path, and so does a replay', async () => {
    const service = await serve()
    await service.call('PUT', '/checks/external/a', checkBody())
    const message =
      'No push arrived, and the API has no such path or method: PUT /checks/external/a (404). Push checks with PUT /v1/checks/external/{id}.\n'
    const { code, stdout, stderr } = await service.run(['report'])
    expect({ code, stderr }).toEqual({ code: 3, stderr: message })
    expect(stdout).toBe('No pushes, so there is nothing to report.\n')
    expect((await service.run(['report', '--fail-on', 'totals_mismatch'])).code).toBe(0)
    expect((await service.run(['report', '--since', '2999-01-01T00:00:00Z'])).code).toBe(0)
    await service.run(['report', '--bundle', 'failure.json'])
    const replayed = await service.run(['replay', 'failure.json'])
    expect(replayed).toMatchObject({ code: 3, stdout })
    expect(replayed.stderr).toContain(message)
    await service.stop()
  })

  test('exits with 3 and prints each finding with its request', async () => {
    const { code, stdout, stderr } = await faulty.run(['report'])
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' })
    expect(stdout).toMatch(
      /^! totals_mismatch {2}1 time\n {2}The totals do not add up: .*\n {4}\S+ \S+ {2}PUT \/v1\/checks\/external\/a {2}201 {2}req_\w+\n$/,
    )
  })

  test.each([
    [['--fail-on', 'unknown_field,conflict_ignored'], 0],
    [['--fail-on', 'unknown_field,totals_mismatch'], 3],
    [['--fail-on', 'none'], 0],
    [['--since', '2999-01-01T00:00:00Z'], 0],
    [['--since', '1h'], 3],
  ])('%j exits with %i', async (args, code) => {
    expect((await faulty.run(['report', ...args])).code).toBe(code)
  })

  test('prints the report, and keeps its exit code, when the JUnit file cannot be written', async () => {
    const [one, other] = [await faulty.run(['report']), await faulty.run(['report', '--junit', '.'])]
    expect(other).toEqual({
      ...one,
      stderr: 'Error: --junit: cannot write the report to . (EISDIR).\n',
    })
    expect((await faulty.run(['report', '--fail-on', 'none', '--junit', '.'])).code).toBe(1)
  })

  test('--json prints the resource, with the same exit code', async () => {
    const { code, stdout } = await faulty.run(['report', '--json'])
    const { findings, pushes } = JSON.parse(stdout) as Report
    expect({ code, pushes, codes: findings.map((finding) => finding.code) }).toEqual({
      code: 3,
      pushes: 1,
      codes: ['totals_mismatch'],
    })
  })

  test('exits with 3 for four refused pushes, and prints their codes', async () => {
    const refused = await serve()
    const push = (body: string, type = 'application/json') =>
      fetch(refused.url + PUSH, {
        method: 'PUT',
        headers: { authorization: `Bearer ${refused.key}`, 'content-type': type },
        body,
      })
    for (const body of ['{"table":', '{}', '{}']) await push(body)
    await push(JSON.stringify(checkBody()), 'text/plain')
    const { code, stdout } = await refused.run(['report', '--fail-on', 'any'])
    expect(code).toBe(3)
    const below = (code: string) =>
      `  The push was refused with ${code}, so [^\\n]*\\n {4}[^\\n]* PUT [^\\n]* ${code.slice(0, 3)}  req_\\w+\\n`
    const messages = ['400 invalid_json', '422 validation_failed', '415 unsupported_media_type'].map(below)
    expect(stdout).toMatch(new RegExp(`^! push_refused {2}3 times\\n${messages.join('')}\\n!`))
    expect(stdout).toMatch(
      /\n! invalid_push_repeated {2}1 time\n {2}This body was refused with 422 validation_failed/,
    )
    expect(stdout).toMatch(
      /\n4 pushes were refused: 2 with 422 validation_failed, 1 with 400 invalid_json, 1 with 415 unsupported_media_type\.\n$/,
    )
    const { stdout: tap } = await refused.run(['report', '--tap'])
    expect(tap).toMatch(
      /\n {2}message: "The push was refused with 415 .* And 2 other messages, see below\."\n/,
    )
    expect(tap).toMatch(
      /\n {2}reason: "The push was refused with 400 .* refused with 422 .* refused with 415 /,
    )
    expect((await refused.run(['report', '--fail-on', 'invalid_push_repeated'])).code).toBe(3)
    expect((await refused.run(['report', '--fail-on', 'totals_mismatch'])).code).toBe(0)
    await refused.stop()
  })

  test('exits with 2 for an unknown finding, and lists the valid ones', async () => {
    const { code, stderr } = await faulty.run(['report', '--fail-on', 'total_mismatch'])
    expect(code).toBe(2)
    expect(stderr).toContain(
      '--fail-on must be finding codes, any or none, got "total_mismatch". Did you mean totals_mismatch? Finding codes: totals_mismatch, ',
    )
  })
})
