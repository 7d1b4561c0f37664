import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkBody, emptyDirectory, serve, startService, tabwire } from '../support/cli.ts'
import { startReceiver } from '../support/https-receiver.ts'
import { testAuthority } from '../support/simulator.ts'
import { hasTerminals, onTerminal, tabwireOnTerminal } from '../support/terminal.ts'
import { expectMode } from '../support/file-mode.ts'

/** A working directory whose service was killed after three pushes: location and key, then the pushes, one a line. */
async function killed(): Promise<{ cwd: string; journal: string; lines: string[] }> {
  const service = await startService()
  for (const id of ['a', 'b', 'c']) await service.call('PUT', `/v1/checks/external/${id}`, checkBody())
  await service.stop('SIGKILL')
  const journal = join(service.cwd, '.tabwire', 'journal.ndjson')
  const lines = (await readFile(journal, 'utf8')).trimEnd().split('\n')
  return { cwd: service.cwd, journal, lines }
}

describe.concurrent('tabwire doctor', () => {
  test.skipIf(!hasTerminals)(`ends ${onTerminal} of unknown width`, async () => {
    const { left } = await tabwireOnTerminal(['doctor', '--port', '0'], { columns: 0 })
    expect(await left()).toEqual({ code: 0, restored: true })
  })

  test('prints one line per check and no problem after kill -9', async () => {
    const { cwd } = await killed()
    const { code, stdout, stderr } = await tabwire(['doctor', '--port', '0'], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/✓ journal\.ndjson is intact: 5 transactions \(1–5\)\.\n/)
    expect(stdout).not.toMatch(/[✗!]/)
    expect(stdout).toMatch(/\nReady to start\.\n$/)
  })

  test('reports the loss by a damaged line; start names the command, and --repair repairs once', async () => {
    const { cwd, journal, lines } = await killed()
    const damaged = `${lines.with(3, '!!!').join('\n')}\n`
    await writeFile(journal, damaged)
    await chmod(join(cwd, '.tabwire', 'credentials.json'), 0o644)

    const looked = await tabwire(['doctor', '--port', '0'], { cwd })
    expect(looked.code).toBe(3)
    expect(looked.stdout).toMatch(
      /✗ journal\.ndjson line 4 \(byte \d+\): its checksum does not match\. 3 transactions/,
    )
    if (process.platform !== 'win32')
      expect(looked.stdout).toContain('! Other users can read or write files with secrets: credentials.json')
    const start = await tabwire(['start', '--port', '0'], { cwd })
    expect(start.code).toBe(1)
    expect(start.stderr).toContain('tabwire doctor --repair')

    const repaired = await tabwire(['doctor', '--port', '0', '--repair'], { cwd })
    expect(repaired.code).toBe(0)
    expect(repaired.stdout).toMatch(
      /journal\.ndjson: 3 transactions kept\. 2 lines could not be kept \(from line 4\)/,
    )
    expect(await readFile(`${journal}.damaged-1`, 'utf8')).toBe(damaged)
    await expectMode(`${journal}.damaged-1`, 0o600)
    await expectMode(join(cwd, '.tabwire', 'credentials.json'), 0o600)
    const names = await readdir(join(cwd, '.tabwire'))
    const again = await tabwire(['doctor', '--port', '0', '--repair', '--json'], { cwd })
    expect(JSON.parse(again.stdout)).toMatchObject({ ok: true, repaired: [], repairable: [] })
    expect(await readdir(join(cwd, '.tabwire'))).toEqual(names)

    const service = await startService([], { cwd })
    const status = async (id: string) => (await service.call('GET', `/v1/checks/external/${id}`)).status
    expect([await status('a'), await status('b'), await status('c')]).toEqual([200, 404, 404])
    await service.stop()
  })

  test.skipIf(process.platform === 'win32')(
    'reports a running service as healthy, and leaves its open files unchanged',
    async () => {
      const service = await startService()
      const { pid } = service.process.child
      const journal = join(service.cwd, '.tabwire', 'journal.ndjson')
      const before = await readFile(journal)
      const { code, stdout } = await service.run(['doctor', '--repair'])
      expect(await readFile(journal)).toEqual(before)
      expect(code).toBe(0)
      expect(stdout).toContain(`✓ Tabwire runs here at ${service.url} (pid ${pid}) and answers.`)
      expect(stdout).toContain(`✓ The running service (pid ${pid}) uses the data directory.`)
      expect(stdout).toMatch(/\nTabwire runs here at \S+\.\n$/)
      expect(await service.stop()).toMatchObject({ code: 0 })
    },
  )

  test.skipIf(process.platform === 'win32')(
    'exits with 3 for a service that uses the directory but does not answer',
    async () => {
      const service = await startService()
      const { pid } = service.process.child
      service.process.child.kill('SIGSTOP')
      const { code, stdout } = await service.run(['doctor', '--port', '0'])
      service.process.child.kill('SIGCONT')
      expect(code).toBe(3)
      expect(stdout).toContain(`✗ A service uses the data directory (pid ${pid})`)
      expect(await service.stop()).toMatchObject({ code: 0 })
    },
  )

  test('with --in-memory says nothing about files of the store, but for damage', async () => {
    const { cwd, journal } = await killed()
    const args = ['doctor', '--port', '0', '--in-memory', '--json']
    const checksOf = ({ stdout }: { stdout: string }) =>
      (JSON.parse(stdout) as { checks: { check: string; level: string }[] }).checks
    const names = checksOf(await tabwire(args, { cwd })).map(({ check }) => check)
    expect(names).toContain('directory')
    for (const name of ['lock', 'credentials.json', 'db.json', 'journal.ndjson'])
      expect(names).not.toContain(name)
    await writeFile(journal, '!!!\n{}\n')
    expect(checksOf(await tabwire(args, { cwd }))).toContainEqual(
      expect.objectContaining({ check: 'journal.ndjson', level: 'note' }),
    )
  })

  test('notes a clock file that a start cannot use, but not for a start that does not read it', async () => {
    const { cwd } = await killed()
    await writeFile(join(cwd, '.tabwire', 'clock.json'), '{"offset_ms":"later"}\n', { mode: 0o600 })
    const { code, stdout } = await tabwire(['doctor', '--port', '0'], { cwd })
    expect(code).toBe(0)
    expect(stdout).toContain(
      '! Cannot read .tabwire/clock.json: it is damaged, or a newer version wrote it. The clock starts as without the file',
    )
    const unread = await tabwire(['doctor', '--port', '0', '--in-memory'], { cwd })
    expect(unread.stdout).not.toContain('clock.json')
  })

  test('exits with 3 and advice for a port that is in use', async () => {
    const other = await serve()
    const { port } = new URL(other.url)
    const { code, stdout } = await tabwire(['doctor', '--port', port])
    expect(code).toBe(3)
    expect(stdout).toContain(
      `✗ Port ${port} on 127.0.0.1 is in use by another Tabwire.\n  → Choose another with --port`,
    )
    expect(stdout).toMatch(/\nNot ready to start: 1 problem\.\n$/)
    await other.stop()
  })

  test('checks the directory of --data-dir, and prints JSON with --json', async () => {
    const cwd = await emptyDirectory()
    await mkdir(join(cwd, 'kept'))
    await writeFile(join(cwd, 'kept', 'db.json'), '{"a":')
    const { code, stdout } = await tabwire(['doctor', '--port', '0', '--data-dir', 'kept', '--json'], { cwd })
    expect(code).toBe(3)
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      checks: expect.arrayContaining([
        { check: 'db.json', level: 'bad', message: expect.stringContaining('kept/db.json') as string },
      ]) as unknown,
      repaired: [],
    })
    expect((await tabwire(['doctor', '--port', '0'], { cwd })).code).toBe(0)
  })

  test('exits with 3 and advice for each problem when deliveries to a receiver would not arrive', async () => {
    const args = ['doctor', '--port', '0', '--receiver', 'https://127.0.0.1:1/webhooks']
    const { code, stdout } = await tabwire(args)
    expect(code).toBe(3)
    expect(stdout).toMatch(
      /✗ Cannot connect to 127\.0\.0\.1 at port 1 \(ECONNREFUSED\)\.\n {2}→ Start the receiver/,
    )
    expect(stdout).toMatch(/\nReady to start, but deliveries would not reach this receiver\.\n$/)
  })
})

test('tabwire doctor judges a receiver as a start with --insecure, --allow-http-host and --deny-private would', async () => {
  const tls = await (await testAuthority()).issue(['127.0.0.1'])
  const [plain, secure] = [await startReceiver(), await startReceiver({ tls })]
  const look = async (url: string, ...args: string[]) => {
    const { code, stdout } = await tabwire(['doctor', '--port', '0', '--receiver', url, ...args])
    return `${code} ${stdout}`
  }
  expect(await look(secure.url)).toMatch(/^3 [^]*✗ The receiver's certificate is not trusted/)
  expect(await look(secure.url, '--insecure')).toMatch(/^0 [^]*! .* is not checked, because of --insecure\./)
  expect(await look(plain.url, '--allow-http-host', '127.0.0.1')).toMatch(
    /^0 [^]*! The receiver uses plain HTTP, which --allow-http-host 127\.0\.0\.1 allows\./,
  )
  expect(await look(plain.url, '--allow-http-loopback', '--deny-private')).toMatch(
    /^3 [^]*✗ .* its URL must not point to a loopback address, because --deny-private is set\./,
  )
  await Promise.all([plain.close(), secure.close()])
})
