import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { emptyDirectory, startService, tabwire } from '../support/cli.ts'

const oneLine = /^Error: [^\n]+\n$/

describe.concurrent('tabwire start refuses', () => {
  test('the port of a running service, uses no other port, and changes neither its run.json nor its key', async () => {
    const service = await startService()
    const port = new URL(service.url).port
    const before = await contents(service.cwd, 'run.json', 'credentials.json')
    const env = { TABWIRE_PORT: port }
    const args = ['start', '--in-memory', '--api-key', 'twk_other']
    const { code, stdout, stderr } = await service.run(args, { env })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(oneLine)
    expect(stderr).toContain(
      `Tabwire already runs here at ${service.url} (pid ${service.process.child.pid}).`,
    )
    expect(stderr).toContain('--port')
    expect(await contents(service.cwd, 'run.json', 'credentials.json')).toEqual(before)
    await service.stop()
  })

  test('a data directory that another service uses, and changes no file in it', async () => {
    const service = await startService()
    const names = ['run.json', 'credentials.json', 'journal.ndjson']
    const before = await contents(service.cwd, ...names)
    const { code, stdout, stderr } = await service.run(['start', '--port', '0', '--api-key', 'twk_other'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(oneLine)
    expect(stderr).toContain(
      `Tabwire already runs here at ${service.url} (pid ${service.process.child.pid}).`,
    )
    expect(await contents(service.cwd, ...names)).toEqual(before)
    expect((await service.call('GET', '/v1/locations')).status).toBe(200)
    await service.stop()
  })

  test('a --host that is not an address of this machine', async () => {
    expect(await tabwire(['start', '--in-memory', '--host', '192.0.2.1', '--port', '0'])).toMatchObject({
      code: 1,
      stderr: 'Error: Cannot listen on 192.0.2.1: it is not an address of this machine. Correct --host.\n',
    })
  })

  test('a port that browsers refuse', async () => {
    expect(await tabwire(['start', '--in-memory', '--port', '6000'])).toMatchObject({
      code: 1,
      stderr:
        'Error: Cannot listen on port 6000 of 127.0.0.1: it is in use, reserved (browsers refuse ports such as 6000), or not an address of this machine. Choose another with --port (0 = any free port).\n',
    })
  })

  test('a data directory below a regular file', async () => {
    const cwd = await emptyDirectory()
    await writeFile(join(cwd, 'file'), 'mine')
    const { code, stdout, stderr } = await tabwire(['start', '--port', '0', '--data-dir', 'file/data'], {
      cwd,
    })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(oneLine)
    expect(stderr).toMatch(/^Error: Cannot use data: .+ \(E[A-Z]+\)\. .*choose another directory\./)
    expect(await readFile(join(cwd, 'file'), 'utf8')).toBe('mine')
  })

  test('a damaged db.json, and does not change it', async () => {
    const cwd = await emptyDirectory()
    await mkdir(join(cwd, '.tabwire'))
    const garbage = Buffer.from('{"sequence": 3, "records": \u0000\ufffd oops')
    await writeFile(join(cwd, '.tabwire', 'db.json'), garbage)
    const { code, stdout, stderr } = await tabwire(['start', '--port', '0'], { cwd })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(oneLine)
    expect(stderr).toContain('.tabwire/db.json')
    expect(await readFile(join(cwd, '.tabwire', 'db.json'))).toEqual(garbage)
    expect(await readdir(join(cwd, '.tabwire'))).not.toContain('run.json')
  })

  test.each([
    [
      ['--service-name', 'Acme Inc.'],
      '--service-name must be 1 to 64 letters, digits and hyphens, without a hyphen at either end, got "Acme Inc.".',
    ],
    [['--port', '65536'], '--port must be a whole number of at most 65535, got "65536".'],
  ])('invalid arguments: %j', async (args, message) => {
    const { code, stdout, stderr } = await tabwire(['start', ...args])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).toMatch(/^Error: [^\n]+ Run `tabwire start --help`\.\n$/)
  })

  test('a --cacert that holds no certificate', async () => {
    const cwd = await emptyDirectory()
    await writeFile(join(cwd, 'ca.pem'), 'no certificate')
    const { code, stderr } = await tabwire(['start', '--port', '0', '--cacert', 'ca.pem'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toMatch(
      /^Error: --cacert must be a certificate of an authority in PEM form, got ca\.pem\./,
    )
    expect(await readdir(cwd)).toEqual(['ca.pem'])
  })
})

function contents(cwd: string, ...names: string[]): Promise<string[]> {
  return Promise.all(names.map((name) => readFile(join(cwd, '.tabwire', name), 'utf8')))
}
