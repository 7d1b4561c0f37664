import { spawnSync } from 'node:child_process'
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { verify } from '../../src/signature/index.ts'
import {
  bin,
  emptyDirectory,
  serve,
  spawnProcess,
  spawnTabwire,
  tabwire,
  type RunningService,
} from '../support/cli.ts'

/** Runs a shell command as an unprivileged user. */
const asNobody = (line: string) =>
  spawnSync('runuser', ['-u', 'nobody', '--', '/bin/sh', '-c', line], { encoding: 'utf8' })
/** Skipped when the test cannot run commands as another user. */
const hasAnotherUser =
  process.platform === 'linux' && process.getuid?.() === 0 && asNobody('true').status === 0

let service: RunningService

beforeAll(async () => {
  service = await serve()
  return async () => {
    await service.stop()
  }
})

/** Runs a command as a process of its own, with debug output of everything. */
async function debugged(args: readonly string[], env: Record<string, string> = {}) {
  const cwd = await emptyDirectory()
  const options = { cwd, env: { DEBUG: '*', ...env } }
  const { ended } = await spawnProcess(process.execPath, [bin, ...args], options)
  return ended
}

async function fileWith(content: string): Promise<string> {
  const path = join(await emptyDirectory(), 'secret')
  await writeFile(path, content)
  return path
}

const secret = `whsec_${'s'.repeat(43)}`

describe('DEBUG=* prints', () => {
  test.concurrent.each<[string, string, string[], Record<string, string>]>([
    ['the API key', 'mine-0123456789', ['locations', '--api-key', 'mine-0123456789'], {}],
    ['the API key behind =', 'mine-0123456789', ['locations', '--api-key=mine-0123456789'], {}],
    ['the API key of a variable', 'mine-0123456789', ['locations'], { TABWIRE_API_KEY: 'mine-0123456789' }],
    ['an unusable API key', "bad'key 0123456789", ['locations', '--api-key', "bad'key 0123456789"], {}],
    ['a signing secret', 'sealed-0123456789', ['sign', '--secret', 'sealed-0123456789', '--body', bin], {}],
    [
      'the header of a receiver',
      'Bearer-0123456789',
      [
        'receiver',
        'check',
        'http://127.0.0.1:9',
        '--secret',
        secret,
        '-H',
        'Authorization: Bearer-0123456789',
      ],
      {},
    ],
    [
      'the password and the key of a store',
      '-0123456789',
      ['start', '--store', 'postgres://u:pass-0123456789@127.0.0.1:1/x', '--store-key=sealed-0123456789'],
      {},
    ],
    ['the password of a URL', 'pass-0123456789', ['locations', '--url', 'http://u:pass-0123456789@h'], {}],
    ['a key as the service makes it', 'twk_0123456789', ['push', 'twk_0123456789'], {}],
    ['the end of a signing secret in base64', '/456789==', ['push', 'whsec_ab+cd/456789=='], {}],
  ])('no secret: %s', async (_what, hidden, args, env) => {
    const { stderr } = await debugged(args, env)
    expect(stderr).toContain('oclif:config')
    expect(stderr).not.toContain(hidden)
  })
})

test.each([
  ['express:*', false],
  ['-oclif:*', false],
  ['express:*, ocl*:config', true],
])('with DEBUG=%s, start prints its key unless oclif prints, too', async (DEBUG, isHidden) => {
  const running = await spawnProcess(process.execPath, [bin, 'start', '--in-memory', '--port', '0'], {
    cwd: await emptyDirectory(),
    env: { DEBUG },
  })
  const started = await running.until('stderr', /^API key .*$/m)
  expect(/^API key +twk_[\w-]{43}$/m.test(started)).toBe(!isHidden)
  running.child.kill()
  await running.ended
})

describe('an unusable key is not printed', () => {
  const mistyped = 'twk_with a typo'
  test.each<[string, string[], Record<string, string>]>([
    ['of --api-key', ['locations', '--api-key', mistyped], {}],
    ['of TABWIRE_API_KEY', ['locations'], { TABWIRE_API_KEY: mistyped }],
    ['of start', ['start', '--in-memory', '--port', '0', '--api-key', mistyped], {}],
    [
      'of contract check',
      ['contract', 'check', '--base-url', 'http://127.0.0.1:9/v1', '--read-key', mistyped],
      {},
    ],
  ])('%s', async (_where, args, env) => {
    const { code, stdout, stderr } = await tabwire(args, { env })
    expect(code).toBe(2)
    expect(stdout + stderr).toContain('must be 1 to 512 visible ASCII characters without spaces')
    expect(stdout + stderr).not.toContain('typo')
  })

  test.each(['', 'twk_with a typo', 'twk_typo\nsecond', 'twk_typo\u001b[8m'])(
    'of a file with %j',
    async (text) => {
      const { code, stdout, stderr } = await tabwire(['locations', '--api-key-file', await fileWith(text)])
      expect(code).toBe(2)
      expect(stdout + stderr).toContain(
        'must contain only the secret, on one line of visible ASCII characters',
      )
      expect(stdout + stderr).not.toContain('typo')
    },
  )
})

describe('a secret is read from a file', () => {
  const elsewhere = { cwd: '' }
  beforeAll(async () => {
    elsewhere.cwd = await emptyDirectory()
  })
  const locations = (args: string[], env: Record<string, string> = {}) =>
    tabwire(['locations', '--url', service.url, ...args], { ...elsewhere, env })

  test('by --api-key-file, also with =, and by TABWIRE_API_KEY_FILE', async () => {
    const file = await fileWith(`${service.key}\n`)
    expect(await locations([])).toMatchObject({ code: 4 })
    for (const args of [['--api-key-file', file], [`--api-key-file=${file}`]])
      expect(await locations(args)).toMatchObject({ code: 0 })
    expect(await locations([], { TABWIRE_API_KEY_FILE: file })).toMatchObject({ code: 0 })
  })

  test('which takes precedence over variables, but not over --api-key', async () => {
    const [right, wrong] = [await fileWith(service.key), await fileWith('wrong')]
    expect(await locations(['--api-key-file', right], { TABWIRE_API_KEY: 'wrong' })).toMatchObject({
      code: 0,
    })
    expect(await locations([], { TABWIRE_API_KEY: service.key, TABWIRE_API_KEY_FILE: wrong })).toMatchObject({
      code: 0,
    })
    expect(await locations(['--api-key', service.key], { TABWIRE_API_KEY_FILE: wrong })).toMatchObject({
      code: 0,
    })
    const both = await locations(['--api-key', service.key, '--api-key-file', right])
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('not both.') as string])
  })

  test('by --secret-file of sign and verify', async () => {
    const [file, body] = [await fileWith(`${secret}\n`), await fileWith('{}')]
    const { code, stdout } = await tabwire(['sign', '--secret-file', file, '--body', body])
    expect(code).toBe(0)
    const header = stdout.trim()
    expect(verify({ payload: '{}', header, secret })).toMatchObject({ ok: true })
    expect(
      await tabwire(['verify', '--secret-file', file, '--header', header, '--body', body]),
    ).toMatchObject({ code: 0 })
  })

  test('which may begin with a byte-order mark, as from an editor on Windows', async () => {
    const file = await fileWith(`\ufeff${service.key}\r\n`)
    expect(await locations(['--api-key-file', file])).toMatchObject({ code: 0, stderr: '' })
  })

  test('and a missing file is an error', async () => {
    const { code, stderr } = await tabwire(['sign', '--secret-file', 'gone', '--body', bin])
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('--secret-file: cannot read gone: no such file') as string,
    ])
  })
})

// All users of a machine read the arguments of all processes.
describe.skipIf(!hasAnotherUser)('another user, who lists processes while the inspector opens', () => {
  test('sees the URL of a page that it cannot read, and no link', async () => {
    const bin = await emptyDirectory()
    const [opened, go] = [join(bin, 'opened'), join(bin, 'go')]
    await writeFile(
      join(bin, 'xdg-open'),
      `#!/bin/sh\necho "$1" >'${opened}'\nwhile [ ! -e '${go}' ]; do /bin/sleep 0.05; done\n`,
      { mode: 0o755 },
    )
    // Folders above the page are open to all, so that only its own mode protects it.
    await chmod(service.cwd, 0o755)
    await chmod(join(service.cwd, '.tabwire'), 0o755)
    const running = service.run(['open'], { env: { PATH: bin } })
    await expect.poll(() => readFile(opened, 'utf8').catch(() => ''), { timeout: 20_000 }).not.toBe('')
    const listed = asNobody('cat /proc/[0-9]*/cmdline')
    const page = (await readFile(opened, 'utf8')).trim()
    const read = asNobody(`cat '${page}'`)
    await writeFile(go, '')
    await running
    expect(listed.stdout).toContain(page)
    expect(listed.stdout).not.toContain('#link=')
    expect({ text: read.stdout, failed: read.status !== 0 }).toEqual({ text: '', failed: true })
  })
})

describe('variables with another meaning', () => {
  test('TABWIRE_PORT as set by Kubernetes is ignored', async () => {
    const env = { TABWIRE_PORT: 'tcp://10.43.0.17:4100', TABWIRE_PORT_4100_TCP_PORT: '4100' }
    const { stdout } = await tabwire(['doctor', '--json'], { env })
    expect(stdout).not.toContain('tcp:')
    const typed = await tabwire(['doctor', '--json'], { env: { TABWIRE_PORT: 'x' } })
    expect(typed).toMatchObject({ code: 2 })
  })

  test('an empty HOME is not the working directory', async () => {
    const preload = join(await emptyDirectory(), 'read-only-root.mjs')
    await writeFile(
      preload,
      `import fs from 'node:fs'
       import { syncBuiltinESMExports } from 'node:module'
       const { mkdir } = fs.promises
       fs.promises.mkdir = async (path, options) => {
         if (path.startsWith('/.local')) throw new Error('EROFS')
         return mkdir(path, options)
       }
       syncBuiltinESMExports()`,
    )
    const cwd = await emptyDirectory()
    const NODE_OPTIONS = `--import ${pathToFileURL(preload).href}`
    const env = { HOME: '', XDG_STATE_HOME: '', NODE_OPTIONS }
    const { stderr } = await tabwire(['config', 'trust'], { cwd, env })
    expect(stderr).toContain('Nothing to trust')
    expect(await readdir(cwd)).toEqual([])
  })

  test('TABWIRE_NODE_OPTIONS is the NODE_OPTIONS of the command of exec, and of nothing else', async () => {
    const { ended } = await spawnTabwire(
      [
        'exec',
        '--',
        process.execPath,
        '--print',
        '[process.env.NODE_OPTIONS, process.env.TABWIRE_NODE_OPTIONS]',
      ],
      { env: { TABWIRE_NODE_OPTIONS: '--no-warnings' }, isNewProcess: true },
    )
    const { code, stdout } = await ended
    expect({ code, stdout }).toEqual({ code: 0, stdout: "[ '--no-warnings', undefined ]\n" })
  })

  test('TLS settings of listen for its target do not apply to start', async () => {
    const { run } = service
    const { stdout } = await run(['listen', '--help'])
    expect(stdout.replace(/\s+/g, ' ')).toContain('Environment variable: TABWIRE_LISTEN_INSECURE.')
    const { ended, child, until } = await spawnProcess(
      process.execPath,
      [bin, 'start', '--in-memory', '--port', '0'],
      { cwd: await emptyDirectory(), env: { TABWIRE_LISTEN_INSECURE: '1', TABWIRE_RECEIVER_INSECURE: '1' } },
    )
    await until('stderr', /Press Ctrl-C to stop/)
    child.kill()
    const { stderr } = await ended
    expect(stderr).toContain('Tabwire is ready.')
    expect(stderr).not.toContain('--insecure')
  })
})
