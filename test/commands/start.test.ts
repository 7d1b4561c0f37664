import { readdir, readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { writeRun } from '../../src/data-directory.ts'
import { emptyDirectory, spawnTabwire, startService, tabwire } from '../support/cli.ts'
import { startReceiver } from '../support/https-receiver.ts'
import { expectMode } from '../support/file-mode.ts'

const runFile = (cwd: string) => readFile(join(cwd, '.tabwire', 'run.json'), 'utf8')

describe.concurrent('tabwire start', () => {
  test.skipIf(process.platform === 'win32')(
    '--json prints a ready line on stdout, and run.json exists until SIGTERM',
    async () => {
      const service = await startService([], { isNewProcess: true })
      const { pid } = service.process.child
      expect(JSON.parse(await runFile(service.cwd))).toMatchObject({ url: service.url, pid })
      await expectMode(join(service.cwd, '.tabwire', 'run.json'), 0o600)
      const { stdout, stderr, code } = await service.stop()
      expect(JSON.parse(stdout)).toEqual({
        type: 'ready',
        url: service.url,
        base_url: `${service.url}/v1`,
        api_key: service.key,
        pid,
      })
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(await readdir(join(service.cwd, '.tabwire'))).not.toContain('run.json')
    },
  )

  test.skipIf(process.platform === 'win32')(
    'prints the base URL, the key and the next commands on stderr, and stops on SIGINT',
    async () => {
      const cwd = await emptyDirectory()
      const start = await spawnTabwire(['start', '--port', '0'], { cwd, isNewProcess: true })
      const messages = await start.until('stderr', /Press Ctrl-C to stop/)
      expect(messages).toMatch(
        /^Tabwire is ready\.\n\nbase URL {3}http:\/\/127\.0\.0\.1:\d+\/v1\nAPI key {4}twk_\S{43}\nreference {2}http:\/\/127\.0\.0\.1:\d+\/docs\ninspector {2}http:\/\/127\.0\.0\.1:\d+\/#link=[\w-]{22}\n {11}works once[^\n]*\n/,
      )
      const printed = messages.split('\n').filter((line) => line !== '')
      expect(new Set(printed).size).toBe(printed.length)
      // Three commands come next.
      expect(messages.match(/ tabwire (?!open)\w+/g)).toEqual([
        ' tabwire listen',
        ' tabwire push',
        ' tabwire tail',
      ])
      expect(messages).not.toContain('\u001b')
      // Registering comes before pushing, and the proposed push works.
      expect(messages).toMatch(/ tabwire listen --forward-to http:[^]* tabwire push /)
      const push = / tabwire (push .+)$/m.exec(messages)?.[1]?.split(' ') ?? []
      expect(await tabwire(push, { cwd })).toMatchObject({ code: 0 })
      start.child.kill('SIGINT')
      expect(await start.ended).toMatchObject({ code: 0, signal: null, stdout: '' })
      expect(await readdir(join(cwd, '.tabwire'))).not.toContain('run.json')
    },
  )

  test.skipIf(process.platform === 'win32').each([
    [['--public-url', 'https://pos.example'], /^https:\/\/pos\.example$/],
    [['--host', '0.0.0.0'], /^http:\/\/(?!0\.0\.0\.0)[\d.]+:\d+$/],
  ])('with %j prints addresses that other machines reach', async (flags, expected) => {
    const start = await spawnTabwire(['start', '--in-memory', '--port', '0', ...flags], {
      isNewProcess: true,
    })
    const messages = await start.until('stderr', /Press Ctrl-C to stop/)
    for (const line of [/^base URL +(\S+)\/v1$/m, /^reference +(\S+)\/docs$/m, /^inspector +(\S+)\/#link=/m])
      expect(line.exec(messages)?.[1]).toMatch(expected)
    start.child.kill('SIGINT')
    expect(await start.ended).toMatchObject({ code: 0 })
  })

  test.skipIf(process.platform === 'win32')(
    'starts for a user who is not in the list of users, without HOME and SHELL',
    async () => {
      const preload = join(await emptyDirectory(), 'unknown-user.mjs')
      await writeFile(
        preload,
        `import os from 'node:os'
       import { syncBuiltinESMExports } from 'node:module'
       delete process.env.HOME
       delete process.env.SHELL
       const unlisted = () => { throw new Error('ENOENT') }
       os.userInfo = unlisted
       os.homedir = () => process.env.HOME ?? unlisted()
       syncBuiltinESMExports()`,
      )
      const env = { NODE_OPTIONS: `--import ${pathToFileURL(preload).href}` }
      const service = await startService([], { env, isNewProcess: true })
      expect(await service.stop()).toMatchObject({ code: 0, stderr: '' })
    },
  )

  test.skipIf(process.platform === 'win32')('stops on Ctrl-Break, as on Ctrl-C', async () => {
    const preload = join(await emptyDirectory(), 'break.mjs')
    // Only Windows has this signal.
    await writeFile(preload, "process.on('SIGUSR2', () => process.emit('SIGBREAK', 'SIGBREAK'))")
    const env = { NODE_OPTIONS: `--import ${pathToFileURL(preload).href}` }
    const service = await startService([], { env, isNewProcess: true })
    expect(await service.stop('SIGUSR2')).toMatchObject({ code: 0, signal: null, stderr: '' })
  })

  test.skipIf(process.platform === 'win32')(
    'takes a signal to it and to its group for one, as `timeout` sends them',
    async () => {
      const service = await startService([], { isNewProcess: true })
      const { child } = service.process
      child.kill('SIGTERM')
      child.kill('SIGCONT')
      child.kill('SIGINT')
      expect(await service.stop('SIGTERM')).toMatchObject({ code: 0, signal: null })
    },
  )

  test.skipIf(process.platform === 'win32')(
    'ends at once on a second signal, even with an attempt in flight',
    async ({ expect }) => {
      const receiver = await startReceiver({ answer: 'hang' })
      const service = await startService(['--allow-http-loopback'])
      const created = await service.call('POST', '/v1/webhook-endpoints', {
        url: receiver.url,
        event_types: ['check.created'],
      })
      const { id } = (await created.json()) as { id: string }
      const ping = service.call('POST', `/v1/webhook-endpoints/${id}/test`).catch(() => undefined)
      await receiver.received(1)
      service.process.child.kill('SIGINT')
      while (await takesConnections(service.url));
      const { child } = service.process
      expect(child.exitCode).toBeNull()
      // Signals within 100 ms count as one.
      await expect.poll(() => child.kill('SIGINT') && child.exitCode, { timeout: 15_000 }).not.toBeNull()
      expect(child.exitCode).toBe(130)
      await ping
      await receiver.close()
    },
  )

  test('keeps the key of the first start in a file that only its owner can read, and uses it again', async () => {
    const first = await startService()
    await expectMode(join(first.cwd, '.tabwire'), 0o700)
    await expectMode(join(first.cwd, '.tabwire', 'credentials.json'), 0o600)
    expect(await readFile(join(first.cwd, '.tabwire', '.gitignore'), 'utf8')).toBe('*\n')
    await first.stop()
    const second = await startService([], { cwd: first.cwd })
    expect(second.key).toBe(first.key)
    expect((await second.call('GET', '/v1/locations')).status).toBe(200)
    await second.stop()
  })

  // As after a crash, when another program has the pid by now.
  test.each([
    ['at which nothing answers', () => 'http://127.0.0.1:9'],
    ['that is its own now', (url: string) => url],
  ])('replaces a run.json with a running pid and a URL %s', async (_which, urlOf) => {
    const first = await startService()
    await first.stop()
    const { cwd } = first
    const old = { url: urlOf(first.url), pid: process.pid, started_at: '2026-01-01T00:00:00Z' }
    await writeRun(join(cwd, '.tabwire'), { ...old, api_key: 'twk_old' })
    const start = await spawnTabwire(['start', '--json', '--port', new URL(first.url).port], { cwd })
    await start.until('stdout', /\n/)
    expect(JSON.parse(await runFile(cwd))).toEqual({
      url: first.url,
      pid: start.child.pid,
      hostname: hostname(),
      started_at: expect.not.stringMatching(old.started_at) as string,
    })
    start.child.kill('SIGTERM')
    await start.ended
  })
})

async function takesConnections(url: string): Promise<boolean> {
  return fetch(`${url}/_sim/health`).then(
    () => true,
    () => false,
  )
}
