import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, readdir, writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isSoak } from '../soak/seeded.ts'
import {
  bin,
  checkBody,
  emptyDirectory,
  spawnProcess,
  spawnTabwire,
  tabwire,
  type RunOptions,
} from '../support/cli.ts'
import { startReceiver } from '../support/https-receiver.ts'

/** A program that pushes a check to the service of `exec`; `totals` as a test wants them. */
const pushing = (totals: object) => `
  const { TABWIRE_BASE_URL, TABWIRE_API_KEY } = process.env
  const answer = await fetch(TABWIRE_BASE_URL + '/checks/external/table-12', {
    method: 'PUT',
    headers: { authorization: 'Bearer ' + TABWIRE_API_KEY, 'content-type': 'application/json' },
    body: ${JSON.stringify(JSON.stringify(checkBody({ totals })))},
  })
  console.log(answer.status)
`
const resetting = `await fetch(process.env.TABWIRE_URL + '/_sim/reset', {
  method: 'POST',
  headers: { authorization: 'Bearer ' + process.env.TABWIRE_API_KEY },
})`
/** The finding of a push with {@link wrongTotals}, with one of its requests. */
const totalsMismatch = {
  code: 'totals_mismatch',
  count: 2,
  first_at: expect.any(String) as string,
  last_at: expect.any(String) as string,
  requests: expect.objectContaining({ status: 201, path: '/v1/checks/external/table-12' }) as object,
  includes_earlier: false,
}
const rightTotals = checkBody().totals
const wrongTotals = { subtotal_cents: 3680, tax_cents: 322, total_cents: 1 }

/** For systems without /proc. */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const node = (program: string) => [process.execPath, '--input-type=module', '--eval', program]

/** Runs `exec` in a process that has run other commands. */
const exec = (args: readonly string[], options: RunOptions = {}) => tabwire(['exec', ...args], options)

/** Runs `exec` as a process that gets signals. */
const spawnExec = async (args: readonly string[], options: RunOptions = {}) =>
  (await spawnTabwire(['exec', ...args], options)).ended

describe('tabwire exec', () => {
  test('runs the command with a service of its own, and leaves no file in the directory', async () => {
    const cwd = await emptyDirectory()
    const { code, stdout, stderr } = await exec(['--', ...node(pushing(rightTotals))], { cwd })
    expect({ code, stdout }).toEqual({ code: 0, stdout: '201\n' })
    expect(stderr).toMatch(/^✓ .*1 push/)
    expect(await readdir(cwd)).toEqual([])
  })

  test.runIf(isSoak)('accepts the command without --, which PowerShell removes', async () => {
    const { code, stdout } = await exec(['--port', '0', ...node('console.log(process.argv.length)')])
    expect({ code, stdout }).toEqual({ code: 0, stdout: '1\n' })
  })

  test.runIf(isSoak)('passes arguments and standard input on unchanged', async () => {
    const program = `
      import { text } from 'node:stream/consumers'
      console.log(JSON.stringify([process.argv.slice(1), await text(process.stdin)]))
    `
    const words = ['--json', '--port', 'a b', '"quoted"', '*', '']
    const { stdout } = await spawnExec(['--', ...node(program), '--', ...words], { input: 'typed' })
    expect(JSON.parse(stdout)).toEqual([words, 'typed'])
  })

  test.runIf(isSoak)('exits with the code of the command', async () => {
    expect(await spawnExec(['--', ...node('process.exit(7)')])).toMatchObject({ code: 7 })
    expect(await spawnExec(['--', ...node("process.kill(process.pid, 'SIGKILL')")])).toMatchObject({
      code: 137,
    })
  })

  test('exits with the code of the command when standard error has no reader', async () => {
    const { child, ended } = await spawnTabwire(['exec', '--', ...node('process.exit(7)')], {
      isNewProcess: true,
    })
    child.stderr?.destroy()
    expect(await ended).toMatchObject({ code: 7 })
  })

  test.each([
    ['any', wrongTotals, 3] as const,
    ['conflict_ignored', wrongTotals, 0] as const,
    ...(isSoak ? [['totals_mismatch', wrongTotals, 3] as const, ['any', rightTotals, 0] as const] : []),
  ])('with --fail-on %s and totals %j exits with %i', async (failOn, totals, expected) => {
    const { code } = await exec(['--fail-on', failOn, '--', ...node(pushing(totals))])
    expect(code).toBe(expected)
  })

  test('with --fail-on any exits with 3 when all calls had a wrong path, and names them', async () => {
    const calling = (...calls: [method: string, path: string][]) =>
      node(`for (const [method, path] of ${JSON.stringify(calls)})
        await fetch(process.env.TABWIRE_URL + path, { method, body: method === 'GET' ? null : '{}',
          headers: { authorization: 'Bearer ' + process.env.TABWIRE_API_KEY, 'content-type': 'application/json' } })`)
    // More requests than one page of the log has.
    const reads = Array.from({ length: 120 }, (): [string, string] => ['GET', '/v1/locations'])
    const wrong = calling(['PUT', '/checks/external/a'], ['POST', '/v1/check'], ...reads)
    const file = join(await emptyDirectory(), 'report.xml')
    const { code, stderr } = await exec(['--fail-on', 'any', '--junit', file, '--', ...wrong])
    expect(code).toBe(3)
    expect(readFileSync(file, 'utf8')).toMatch(/failures="1"[^]*No push arrived/)
    expect(stderr).toContain('No push arrived, and the API has no such path or method: ')
    expect(stderr).toContain('PUT /checks/external/a (404)')
    expect(stderr).toContain('POST /v1/check (404)')
    expect((await exec(['--', ...wrong])).code).toBe(0)
    // A missing record, and what browsers ask for.
    const others = calling(['POST', '/v1/webhook-endpoints/we_1/test'], ['GET', '/favicon.png'])
    expect((await exec(['--fail-on', 'any', '--', ...others])).code).toBe(0)
  })

  test('with --fail-on any exits with 3 when TLS arrived at the HTTP port, and no push', async () => {
    const program = node(
      "await fetch(process.env.TABWIRE_URL.replace('http:', 'https:')).catch(() => undefined)",
    )
    const { code, stderr } = await exec(['--fail-on', 'any', '--', ...program])
    expect(code).toBe(3)
    expect(stderr).toContain(
      'No push arrived, but a request that is not HTTP/1.1. This port speaks plain HTTP, not TLS. Use http://',
    )
    expect((await exec(['--', ...program])).code).toBe(0)
  })

  test('says that the command sent no request, and where it finds the URL', async () => {
    const { stderr } = await exec(['--', ...node('')])
    expect(stderr).toBe(
      'No pushes, so there is nothing to report.\nWarning: CMD sent no request to the API. Its base URL is in TABWIRE_BASE_URL, and the key in TABWIRE_API_KEY.\n',
    )
    const reading = node('await fetch(process.env.TABWIRE_BASE_URL + "/locations")')
    expect((await exec(['--', ...reading])).stderr).toBe('No pushes, so there is nothing to report.\n')
  })

  test.each([
    ['PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n', 'HTTP/2.0 is not supported.'],
    ['PROXY TCP4 127.0.0.1 127.0.0.1 51000 80\\r\\n', 'The connection begins with the PROXY protocol'],
  ])('with --fail-on any exits with 3 when only another protocol arrived: %s', async (packet, reason) => {
    const program = node(`
      import { connect } from 'node:net'
      const { hostname, port } = new URL(process.env.TABWIRE_URL)
      const socket = connect(Number(port), hostname)
      socket.write('${packet}')
      await new Promise((resolve) => socket.resume().on('close', resolve))`)
    const { code, stderr } = await exec(['--fail-on', 'any', '--', ...program])
    expect(code).toBe(3)
    expect(stderr).toContain(`No push arrived, but a request that is not HTTP/1.1. ${reason}`)
  })

  test('with --https and --fail-on any exits with 3 when only plain HTTP arrived', async () => {
    const program = node(
      "await fetch(process.env.TABWIRE_URL.replace('https:', 'http:')).catch(() => undefined)",
    )
    const { code, stderr } = await exec(['--https', '--fail-on', 'any', '--', ...program])
    expect(code).toBe(3)
    expect(stderr).toContain(
      'No push arrived, but a connection without a request. A client sent plain HTTP to the HTTPS port.',
    )
    expect((await exec(['--https', '--', ...program])).code).toBe(0)
  })

  test('warns of a proxy when the command sent no request', async () => {
    const env = { http_proxy: 'http://127.0.0.1:1', no_proxy: '', NO_PROXY: '' }
    const silent = await exec(['--faults', 'error=0.1', '--', ...node('')], { env })
    expect(silent.stderr).toContain(
      'http_proxy is set, so it may have asked the proxy. Add 127.0.0.1 to NO_PROXY.',
    )
    const calling = node("await fetch(process.env.TABWIRE_BASE_URL + '/locations')")
    expect((await exec(['--', ...calling], { env })).stderr).not.toContain('http_proxy')
  })

  test('says what to do when there is no directory for temporary files', async () => {
    const place = join(await emptyDirectory(), 'gone')
    const env = { TMPDIR: place, TEMP: place }
    const { code, stderr } = await exec(['--https', '--', ...node('')], { env })
    expect(code).toBe(1)
    expect(stderr).toContain(`Cannot create a directory in ${place} (ENOENT). Name another one with TMPDIR`)
  })

  test('judges the pushes before each reset, too', async () => {
    const program = node(`{${pushing(wrongTotals)}}\n${resetting}\n{${pushing(wrongTotals)}}\n${resetting}`)
    const { code, stderr } = await exec(['--json', '--fail-on', 'any', '--', ...program])
    expect(code).toBe(3)
    const { requests, ...finding } = totalsMismatch
    expect(JSON.parse(stderr)).toEqual({
      since: null,
      pushes: 2,
      refused: [],
      findings: [{ ...finding, requests: [requests, requests] }],
    })
    const right = node(`${pushing(rightTotals)}\n${resetting}`)
    const passed = await exec(['--fail-on', 'any', '--', ...right])
    expect(passed).toMatchObject({ code: 0, stderr: '✓ No problems found in 1 push.\n' })
  })

  test('fails for misdirected calls before a reset, and not when another push arrived', async () => {
    const misdirected = `await fetch(process.env.TABWIRE_URL + '/v2/checks', { method: 'POST' })\n${resetting}`
    const { code, stderr } = await exec(['--fail-on', 'any', '--', ...node(misdirected)])
    expect(code).toBe(3)
    expect(stderr).toContain(
      'No push arrived, and the API has no such path or method: POST /v2/checks (404).',
    )
    const both = node(`${misdirected}\n${pushing(rightTotals)}`)
    expect((await exec(['--fail-on', 'any', '--', ...both])).code).toBe(0)
  })

  test('says that account and bundle begin with the last reset', async () => {
    const cwd = await emptyDirectory()
    const program = node(`{${pushing(wrongTotals)}}\n${resetting}`)
    const { code, stderr } = await exec(
      ['--all-closed', '--fail-on', 'any', '--bundle', 'failure.json', '--', ...program],
      { cwd },
    )
    expect(code).toBe(3)
    expect(stderr).toContain(
      'CMD replaced the state 1 time. The findings are those of the whole run, but the account and the bundle begin with the last replacement.',
    )
  })

  test('passes a given data directory on to the command', async () => {
    const cwd = await emptyDirectory()
    const program = node('console.log(process.env.TABWIRE_DATA_DIR)')
    const { stdout } = await exec(['--data-dir', 'dd', '--', ...program], { cwd })
    expect(stdout.trim()).toBe(join(cwd, 'dd'))
    expect((await exec(['--', ...program], { cwd })).stdout).toBe('undefined\n')
  })

  test.runIf(isSoak)('keeps the exit code of a failed command when there are findings', async () => {
    const program = `${pushing(wrongTotals)}\nprocess.exit(5)`
    const { code, stderr } = await exec(['--fail-on', 'any', '--', ...node(program)])
    expect(code).toBe(5)
    expect(stderr).toContain('totals_mismatch')
  })

  test.runIf(isSoak)(
    '--json prints the report to stderr, because stdout belongs to the command',
    async () => {
      const { stdout, stderr } = await exec(['--json', '--', ...node(pushing(wrongTotals))])
      expect(stdout).toBe('201\n')
      expect(JSON.parse(stderr)).toMatchObject({ pushes: 1, findings: [{ code: 'totals_mismatch' }] })
    },
  )

  test('simulates guests, and adds the account to the report, to --fail-on and to --junit', async () => {
    const cwd = await emptyDirectory()
    // Waits until the guests have paid, and never closes the check.
    const program = `${pushing(rightTotals)}
      const headers = { authorization: 'Bearer ' + TABWIRE_API_KEY }
      const read = async () => (await fetch(TABWIRE_BASE_URL + '/checks/external/table-12', { headers })).json()
      while ((await read()).balance_cents > 0) await new Promise((resolve) => setTimeout(resolve, 20))
    `
    const words = [
      '--guests',
      '2',
      '--guests-seed',
      '4',
      '--junit',
      'report.xml',
      '--fail-on',
      'check_left_open',
    ]
    const { code, stderr } = await exec([...words, '--', ...node(program)], { cwd })
    expect(code, stderr).toBe(3)
    expect(stderr).toMatch(/^\d guests? at 1 check: /)
    expect(stderr).toContain('✗ check_left_open  table-12\n')
    expect(stderr).toMatch(/\nall 1 check +\$40\.02 /)
    expect(readFileSync(join(cwd, 'report.xml'), 'utf8')).toContain('failures="1"')
  })

  test('keeps report and exit code when a file cannot be written any more, and says so', async () => {
    const cwd = await emptyDirectory()
    const program = `import { mkdirSync } from 'node:fs'
      for (const file of ['report.xml', 'failure.json']) mkdirSync(file)
      ${pushing(wrongTotals)}
      process.exit(7)`
    const words = ['--junit', 'report.xml', '--bundle', 'failure.json', '--', ...node(program)]
    const { code, stderr } = await exec(words, { cwd })
    expect(code).toBe(7)
    expect(stderr).toMatch(/^! totals_mismatch /)
    expect(stderr).toContain('Error: --junit: cannot write the report to report.xml (EISDIR).\n')
    expect(stderr).toContain('Error: --bundle: cannot write the bundle to failure.json (EISDIR).\n')
  })

  test('does not run the command when the JUnit file cannot be written', async () => {
    const cwd = await emptyDirectory()
    const program = "import { writeFileSync } from 'node:fs'; writeFileSync('ran', '')"
    const { code, stderr } = await exec(['--junit', '.', '--', ...node(program)], { cwd })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'Error: --junit: cannot write the report to . (EISDIR).\n',
    })
    expect(await readdir(cwd)).toEqual([])
  })

  test('runs later retries at once, and injects faults only while the command runs', async () => {
    const program = `
      import { createServer } from 'node:http'
      const server = createServer((request, response) => response.writeHead(request.resume() && 204).end())
      await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { TABWIRE_BASE_URL, TABWIRE_API_KEY } = process.env
      const headers = { authorization: 'Bearer ' + TABWIRE_API_KEY, 'content-type': 'application/json' }
      const body = JSON.stringify({ url: 'http://127.0.0.1:' + server.address().port, event_types: ['check.created'] })
      await fetch(TABWIRE_BASE_URL + '/webhook-endpoints', { method: 'POST', headers, body })
      ${pushing(rightTotals).replace('const { TABWIRE_BASE_URL, TABWIRE_API_KEY } = process.env', '')}
      const read = async () => (await fetch(process.env.TABWIRE_URL + '/_sim/deliveries', { headers })).json()
      let deliveries = []
      while (deliveries[0]?.attempts?.length !== 7) deliveries = (await read()).data
      console.log(deliveries[0].status)
      process.exit()
    `
    const words = ['--allow-http-loopback', '--guests', '1', '--faults', 'drop']
    const { code, stdout } = await exec([...words, '--', ...node(program)])
    expect({ code, stdout }).toEqual({ code: 0, stdout: '201\ndead\n' })
  })

  test('with --all-closed waits for a receiver outside of the command that answers after its end', async () => {
    let delivered: ServerResponse | undefined
    const receiver = await startReceiver({
      answer(response, { method }) {
        if (method === 'POST') return void (delivered = response)
        // The request of the command, which ends with it.
        response.once('close', () => setTimeout(() => delivered?.writeHead(204).end(), 700))
        return void receiver.received(2).then(() => response.flushHeaders())
      },
    })
    const program = `${pushing(rightTotals)}
      const headers = { authorization: 'Bearer ' + TABWIRE_API_KEY, 'content-type': 'application/json' }
      const call = (method, path, body) =>
        fetch(process.env.TABWIRE_URL + path, { method, headers, body: JSON.stringify(body) })
      await call('POST', '/v1/webhook-endpoints', { url: '${receiver.url}', event_types: ['payment.succeeded'] })
      await call('POST', '/_sim/checks/table-12/payments', {})
      await call('PUT', '/v1/checks/external/table-12', ${JSON.stringify(checkBody({ status: 'closed' }))})
      await fetch('${receiver.url}')
      process.exit()
    `
    const words = ['--allow-http-loopback', '--all-closed', '--fail-on', 'any']
    const { code, stderr } = await exec([...words, '--', ...node(program)])
    expect(stderr).not.toContain('event_not_accepted')
    expect(code, stderr).toBe(0)
    expect(receiver.requests.map(({ method }) => method).sort()).toEqual(['GET', 'POST'])
    await receiver.close()
  })

  // A superuser may read every folder.
  test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
    'explains a command that is missing beside a folder in PATH that cannot be read',
    async () => {
      const [closed, open] = [await emptyDirectory(), await emptyDirectory()]
      await writeFile(join(open, 'no-program'), '', { mode: 0o644 })
      await chmod(closed, 0)
      const env = { PATH: [closed, open, process.env.PATH].join(delimiter) }
      const missing = await exec(['--', 'no-such-command'], { env })
      const closedFile = await exec(['--', 'no-program'], { env })
      await chmod(closed, 0o700)
      expect([missing.code, closedFile.code]).toEqual([127, 126])
      expect(missing.stderr).toContain('Command not found: no-such-command.')
    },
  )

  test.each([
    ['that is missing', ['--', 'no-such-command'], 127, /Command not found: no-such-command\./],
    ['that is one word with its arguments', ['--', 'no-such test'], 127, /: no-such test\. .*separate words/],
    [
      'behind a variable',
      ['--', 'CI=1', 'npm', 'test'],
      127,
      /: CI=1\. To set a variable .* before tabwire\./,
    ],
    ['that is not given', [], 2, /CMD is missing\./],
    ['that is empty', ['--', ''], 2, /CMD is missing\./],
    [
      'behind a switch with a value',
      ['--https=false', '--', 'true'],
      2,
      /--https takes no value, got "false"\./,
    ],
    ['behind an unknown flag', ['--prt', '0', '--', 'true'], 2, /--prt/],
    ['behind too many guests', ['--guests', '13', '--', 'true'], 2, /--guests .*12/],
    ['behind an unknown fault', ['--faults', 'drop=0.2, drpo', '--', 'true'], 2, /Unknown fault "drpo"/],
    [
      'behind an unknown finding',
      ['--fail-on', 'totals', '--', 'true'],
      2,
      /--fail-on must be finding codes.*"totals"/,
    ],
  ])('explains a command %s', async (_what, args, expected, message) => {
    const { code, stderr } = await exec(args)
    expect(stderr).toMatch(message)
    expect(code).toBe(expected)
  })

  test.skipIf(process.platform === 'win32')(
    'explains a script whose interpreter does not exist',
    async () => {
      const cwd = await emptyDirectory()
      await writeFile(join(cwd, 'run.sh'), '#!/bin/sh\r\ntrue\r\n', { mode: 0o700 })
      const { code, stderr } = await exec(['--', './run.sh'], { cwd })
      expect(code).toBe(126)
      expect(stderr).toMatch(
        /^Error: \.\/run\.sh cannot be executed: its interpreter does not exist\. .*not CR LF/,
      )
    },
  )

  test.skipIf(process.platform === 'win32')('explains a file that is not executable', async () => {
    const cwd = await emptyDirectory()
    await writeFile(join(cwd, 'notes.txt'), 'text', { mode: 0o600 })
    const { code, stderr } = await exec(['--', './notes.txt'], { cwd })
    expect({ code, stderr }).toEqual({
      code: 126,
      stderr: 'Error: ./notes.txt cannot be executed: EACCES.\n',
    })
  })

  test('lets commands inside find the service, also over HTTPS', async () => {
    const cwd = await emptyDirectory()
    await writeFile(join(cwd, 'table-12.json'), JSON.stringify(checkBody()))
    const push = [process.execPath, bin, 'push', 'table-12.json']
    expect(await exec(['--', ...push], { cwd })).toMatchObject({ code: 0 })
    expect(await exec(['--https', '--', ...push], { cwd })).toMatchObject({ code: 0 })
  })

  test.runIf(isSoak)('hides a profile of the environment from commands inside', async () => {
    const program = 'console.log(process.env.TABWIRE_PROFILE)'
    const { stdout } = await exec(['--', ...node(program)], { env: { TABWIRE_PROFILE: 'staging' } })
    expect(stdout).toBe('undefined\n')
  })

  test.runIf(isSoak)('starts a service with the flags that are given', async () => {
    const program = `
      const { TABWIRE_URL } = process.env
      console.log((await (await fetch(TABWIRE_URL + '/_sim/health')).json()).service_name)
    `
    expect(await exec(['--service-name', 'Acme', '--', ...node(program)])).toMatchObject({ stdout: 'Acme\n' })
  })

  test.runIf(isSoak)(
    'runs in a directory where another service runs, and pushes nothing to that service',
    async () => {
      const cwd = await emptyDirectory()
      const service = await spawnTabwire(['start', '--json', '--port', '0'], { cwd })
      await service.until('stdout', /\n/)
      expect(await exec(['--', ...node(pushing(rightTotals))], { cwd })).toMatchObject({ code: 0 })
      const listed = await tabwire(['checks', 'list'], { cwd })
      expect(listed.stdout).toMatch(/^No checks/)
      service.child.kill('SIGTERM')
      await service.ended
    },
  )
})

describe.skipIf(process.platform === 'win32')('signals at tabwire exec', () => {
  /** Prints the pids of itself and of a child of its own, and waits. */
  const waiting = `
    import { spawn } from 'node:child_process'
    const child = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)'])
    console.log(process.pid, child.pid)
    setInterval(() => {}, 1000)
  `

  /** A zombie has ended; the first process of a container may take seconds to collect it. */
  const isAlive = (pid: number) => {
    try {
      return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
    } catch {
      return existsSync('/proc/self/status') ? false : exists(pid)
    }
  }

  /** Resolves once none of these processes is left. */
  const gone = (pids: readonly number[]) => expect.poll(() => pids.filter(isAlive)).toEqual([])

  test.each(isSoak ? (['SIGTERM', 'SIGINT', 'SIGHUP'] as const) : (['SIGTERM'] as const))(
    '%s ends the command and all its processes',
    async (signal) => {
      const running = await spawnTabwire(['exec', '--', ...node(waiting)], { isNewProcess: true })
      const pids = (await running.until('stdout', /\n/)).trim().split(' ').map(Number)
      expect(pids).toHaveLength(2)
      running.child.kill(signal)
      const { code } = await running.ended
      expect(code).toBe({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }[signal])
      await gone(pids)
    },
  )

  test.runIf(isSoak)(
    'lets a command finish on Ctrl-C, and exits with 130 when it then succeeds',
    async () => {
      const program = `
      process.on('SIGINT', () => { console.log('finishing'); process.exit(0) })
      console.log('ready')
      setInterval(() => {}, 1000)
    `
      const running = await spawnTabwire(['exec', '--', ...node(program)], { isNewProcess: true })
      await running.until('stdout', /ready/)
      running.child.kill('SIGINT')
      expect(await running.ended).toMatchObject({ code: 130, stdout: 'ready\nfinishing\n' })
    },
  )

  test('end it after the command, while guests still play', async () => {
    const receiver = createServer(() => {})
    const asked = once(receiver, 'request')
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
    const program = `
      const { TABWIRE_BASE_URL, TABWIRE_API_KEY } = process.env
      const headers = { authorization: 'Bearer ' + TABWIRE_API_KEY, 'content-type': 'application/json' }
      const body = JSON.stringify({ url: '${url}', event_types: ['check.created'] })
      await fetch(TABWIRE_BASE_URL + '/webhook-endpoints', { method: 'POST', headers, body })
      ${pushing(rightTotals).replace('const { TABWIRE_BASE_URL, TABWIRE_API_KEY } = process.env', '')}
      process.exit()
    `
    const words = ['exec', '--allow-http-loopback', '--guests', '1', '--', ...node(program)]
    const running = await spawnTabwire(words, { isNewProcess: true })
    await running.until('stdout', /201/)
    await asked
    // The pids of the command's processes are not known here: its end is the end of the play's first wait.
    const end = setInterval(() => running.child.kill('SIGINT'), 200)
    const { code } = await running.ended
    clearInterval(end)
    expect(code).toBe(130)
    receiver.closeAllConnections()
    receiver.close()
  })

  test.runIf(isSoak)('works from sh, in a list of commands', async () => {
    const line = `"$NODE" "$BIN" exec -- "$NODE" --print 'typeof process.env.TABWIRE_URL' && echo then`
    const shell = await spawnProcess('sh', ['-c', line], { env: { NODE: process.execPath, BIN: bin } })
    expect(await shell.ended).toMatchObject({ code: 0, stdout: 'string\nthen\n' })
  })

  test('ends processes that the command left behind', async () => {
    const program = `
      import { spawn } from 'node:child_process'
      const child = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
      child.unref()
      console.log(child.pid)
    `
    const { code, stdout } = await spawnExec(['--', ...node(program)])
    expect(code).toBe(0)
    await gone([Number(stdout)])
  })
})
