import type { ServerResponse } from 'node:http'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { ConformanceReport } from '../../src/conformance/report.ts'
import { secret } from '../conformance/receiver/check.ts'
import { atEnd } from '../support/at-end.ts'
import { spawnTabwire } from '../support/cli.ts'
import { hasTerminals, onTerminal, tabwireOnTerminal } from '../support/terminal.ts'
import { openHttpServer } from '../support/http-server.ts'

/** Answers so many requests, and leaves the next one waiting: `silence` resolves when it has come. */
async function fallingSilent(answered: number, answer: (response: ServerResponse, count: number) => unknown) {
  let count = 0
  let fall: () => void
  const silence = new Promise<void>((resolve) => (fall = resolve))
  const { url } = await openHttpServer(
    (request, response) => {
      count += 1
      const number = count
      if (number > answered) fall()
      else request.once('end', () => answer(response, number))
      request.resume()
    },
    { atEnd },
  )
  return { url: `${url}/v1`, silence }
}

/** Rejects the sixth and the seventh delivery, which are the forged ones of the control. */
const receiver = (answered: number) =>
  fallingSilent(answered, (response, count) =>
    response.writeHead(count === 6 || count === 7 ? 400 : 204).end(),
  )
const service = (answered: number) =>
  fallingSilent(answered, (response) => response.writeHead(200, { 'x-request-id': 'a' }).end('[]'))

describe.runIf(hasTerminals).concurrent(onTerminal, () => {
  test('receiver check prints its progress, and after Ctrl-C its results so far, with 130', async () => {
    // The plain delivery, six of the control, and three cases.
    const { url, silence } = await receiver(10)
    const running = await tabwireOnTerminal(['receiver', 'check', url, '--secret', secret])
    await silence
    await running.until('stdout', /10 of \d+ {2}accepts\/event_check_fully_paid/)
    running.type('\u0003')
    const { stdout } = await running.ended
    const text = stripVTControlCharacters(stdout).replaceAll('\r', '')
    expect(await running.left()).toEqual({ code: 130, restored: true })
    expect(text).toMatch(/✓ event_check_closed .*\n {2}- \d+ cases, event_check_fully_paid to /)
    const left = Number(/10 of (\d+)/.exec(text)?.[1]) - 9
    expect(text).toMatch(
      new RegExp(
        `\n9 passed, 0 failed, ${left} not checked {2}in \\d\\.\\d s\nInterrupted: this report is partial\\.\n$`,
      ),
    )
    expect(stdout).toContain('\u001b[?25h')
  })

  test('contract check prints its progress, and after Ctrl-C its results so far, with 130', async () => {
    // The locations, the profile and a push, and two pushes of the first control.
    const { url, silence } = await service(5)
    const running = await tabwireOnTerminal(['contract', 'check', '--base-url', url])
    await silence
    await running.until('stdout', /\d+ of \d+ {2}requests\//)
    running.type('\u0003')
    const { stdout } = await running.ended
    expect(await running.left()).toEqual({ code: 130, restored: true })
    expect(stripVTControlCharacters(stdout)).toContain('Interrupted: this report is partial.')
  })
})

describe.skipIf(process.platform === 'win32').concurrent('in a pipe, after SIGINT', () => {
  test('the JSON report says that it is partial, with exit code 130 and without progress', async () => {
    const { url, silence } = await receiver(10)
    const running = await spawnTabwire(['receiver', 'check', url, '--secret', secret, '--json'])
    await silence
    running.child.kill('SIGINT')
    const { code, stdout, stderr } = await running.ended
    expect({ code, stderr }).toEqual({ code: 130, stderr: '' })
    const report = JSON.parse(stdout) as ConformanceReport
    expect(report).toMatchObject({
      ok: false,
      interrupted: true,
      totals: { passed: 9, failed: 0, not_checked: report.cases.length - 9 },
    } satisfies Partial<Record<keyof ConformanceReport, unknown>>)
  })

  test('contract check prints nothing when the service answered no request', async () => {
    const { url, silence } = await service(0)
    const running = await spawnTabwire(['contract', 'check', '--base-url', url])
    await silence
    running.child.kill('SIGINT')
    expect(await running.ended).toMatchObject({ code: 130, stdout: '', stderr: '' })
  })
})
