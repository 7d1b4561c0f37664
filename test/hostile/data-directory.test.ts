import { execFileSync, spawnSync } from 'node:child_process'
import { chmod, chown, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { isThisMachine } from '../../src/cli/running-service.ts'
import { markAsOwn } from '../../src/cli/trust/made-here.ts'
import { writeRun } from '../../src/data-directory.ts'
import {
  bin,
  emptyDirectory,
  serve,
  spawnProcess,
  startService,
  tabwire,
  type RunningService,
} from '../support/cli.ts'
import { expectMode } from '../support/file-mode.ts'
import { openHttpServer } from '../support/http-server.ts'

const isRoot = process.getuid?.() === 0
/** Id of the unprivileged user on common systems. */
const NOBODY = 65_534
const asNobody = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
/** Whether another user can run the command, which takes more than that there is one. */
const hasAnotherUser =
  isRoot && spawnSync('setpriv', [...asNobody, process.execPath, bin, '--version']).status === 0
const hasModes = process.platform !== 'win32'

let service: RunningService
beforeAll(async () => {
  service = await serve()
  return async () => {
    await service.stop()
  }
})

/** Starts a service of another user. Returns its URL and the requests that it received. */
async function eavesdropper(): Promise<{ url: string; heard: string[] }> {
  const heard: string[] = []
  const { url } = await openHttpServer(({ headers }, response) => {
    heard.push(headers.authorization ?? '')
    response.end('{"data":[],"next_cursor":null}')
  })
  return { url, heard }
}

/** A working directory whose `.tabwire` names a service. */
async function naming(url: string): Promise<string> {
  const cwd = await emptyDirectory()
  await writeRun(join(cwd, '.tabwire'), { url, pid: process.pid, started_at: '2026-01-01T00:00:00Z' })
  return cwd
}

describe('run.json', () => {
  test.each(['http://attacker.example', 'http://192.0.2.1:4100', 'http://2130706433.attacker.example/v1'])(
    'that names %s gets no request, with any key in the environment',
    async (url) => {
      const cwd = await naming(url)
      const { code, stdout, stderr } = await tabwire(['locations'], {
        cwd,
        env: { TABWIRE_API_KEY: 'twk_ours' },
      })
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toBe(
        `Error: ${join('.tabwire', 'run.json')} points to ${new URL(url).origin}, which is not an address of this machine. Nothing was sent there. Remove that file, or pass --url URL.\n`,
      )
    },
  )

  test('of a killed service gives no key to another program at its port', async () => {
    const { url, heard } = await eavesdropper()
    const cwd = await emptyDirectory()
    const { pid } = spawnSync(process.execPath, ['--version'])
    await writeRun(join(cwd, '.tabwire'), { url, pid, started_at: '2026-01-01T00:00:00Z' })
    const { code, stderr } = await tabwire(['locations'], { cwd, env: { TABWIRE_API_KEY: 'twk_ours' } })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `Error: The service of ${join('.tabwire', 'run.json')} has ended, and another program answers at ${url}. Nothing was sent there. Start the service with \`tabwire start\`, or pass --url URL.\n`,
    })
    expect(heard).toEqual([''])
  })

  test('does not prevent calls of a service that the user names', async () => {
    const { url, heard } = await eavesdropper()
    const cwd = await naming('http://attacker.example')
    const env = { TABWIRE_API_KEY: 'twk_ours', TABWIRE_URL: url }
    expect(await tabwire(['locations'], { cwd, env })).toMatchObject({ code: 0 })
    expect(heard).toEqual(['Bearer twk_ours'])
  })

  test('is used when it names an address of this machine', () => {
    const own = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
    const named = own.filter(({ scopeid }) => !scopeid)
    for (const host of [
      'localhost',
      '127.0.0.1',
      '127.9.9.9',
      '[::1]',
      '0.0.0.0',
      ...named.map(({ address }) => address),
    ])
      expect([host, isThisMachine(host)]).toEqual([host, true])
    for (const host of [
      'localhost.attacker.example',
      '127.0.0.1.attacker.example',
      '192.0.2.1',
      '1270.0.0.1',
      'x.localhost',
      '',
    ])
      expect([host, isThisMachine(host)]).toEqual([host, false])
  })
})

describe.skipIf(!hasModes)('a data directory', () => {
  test.skipIf(!isRoot)(
    'of another user is refused with the command that repairs it (needs root)',
    async () => {
      const cwd = await naming(service.url)
      await chown(join(cwd, '.tabwire'), NOBODY, NOBODY)
      for (const args of [
        ['locations'],
        ['start', '--port', '0'],
        ['certs', 'create', 'localhost'],
        ['doctor'],
        ['listen', '--print-secret'],
      ]) {
        const { code, stdout, stderr } = await tabwire(args, { cwd })
        expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' })
        expect(stderr).toBe(
          `Error: .tabwire belongs to another user (uid ${NOBODY}; you are 0), who can read and change its keys. Choose another with --data-dir; if the directory is yours, run: sudo chown -R 0 .tabwire\n`,
        )
      }
    },
  )

  test.skipIf(!hasAnotherUser)(
    'of root is refused for another user (needs root, setpriv, and node for all users)',
    async () => {
      const cwd = await naming(service.url)
      for (const path of [cwd, join(cwd, '.tabwire')]) await chmod(path, 0o755)
      const env = { HOME: cwd, XDG_STATE_HOME: join(cwd, 'none'), TABWIRE_API_KEY: service.key }
      const { ended } = await spawnProcess('setpriv', [...asNobody, process.execPath, bin, 'locations'], {
        cwd,
        env,
      })
      expect(await ended).toMatchObject({
        code: 1,
        stdout: '',
        stderr: `Error: .tabwire belongs to another user (uid 0; you are ${NOBODY}), who can read and change its keys. Choose another with --data-dir; if the directory is yours, run: sudo chown -R ${NOBODY} .tabwire\n`,
      })
    },
  )

  test.each([0o770, 0o777, 0o702])(
    'that others can write to, mode %o, is refused until it is repaired as instructed',
    async (mode) => {
      const cwd = await naming(service.url)
      await chmod(join(cwd, '.tabwire'), mode)
      const run = () => tabwire(['locations', '--api-key', service.key], { cwd })
      const { code, stderr } = await run()
      expect(code).toBe(1)
      expect(stderr).toMatch(
        new RegExp(
          `^Error: Other users can write to \\.tabwire \\(mode ${mode.toString(8)}\\), so .* Run: chmod go-w \\.tabwire\\n$`,
        ),
      )
      execFileSync('sh', ['-c', /Run: (.*)/.exec(stderr)?.[1] ?? ''], { cwd })
      expect(await run()).toMatchObject({ code: 0 })
    },
  )

  test('that others can only read is accepted', async () => {
    const cwd = await naming(service.url)
    await chmod(join(cwd, '.tabwire'), 0o755)
    expect(await tabwire(['locations', '--api-key', service.key], { cwd })).toMatchObject({ code: 0 })
  })

  test('is repaired by doctor despite its modes', async () => {
    const cwd = await naming(service.url)
    await chmod(join(cwd, '.tabwire'), 0o777)
    await tabwire(['doctor', '--repair'], { cwd })
    await expectMode(join(cwd, '.tabwire'), 0o700)
  })

  test('that is a symbolic link is refused, unless the user names it', async () => {
    const elsewhere = await naming(service.url)
    const cwd = await emptyDirectory()
    await symlink(join(elsewhere, '.tabwire'), join(cwd, '.tabwire'))
    const { code, stderr } = await tabwire(['start', '--port', '0'], { cwd })
    expect(code).toBe(1)
    expect(stderr).toContain('.tabwire is a symbolic link.')
    const args = ['locations', '--api-key', service.key, '--data-dir', '.tabwire']
    expect(await tabwire(args, { cwd })).toMatchObject({ code: 0 })
  })

  test.each(['journal.ndjson', 'credentials.json', 'ca/ca.pem', 'listen/secret'])(
    'with a symbolic link, %s, is refused, and nothing is written to the target',
    async (name) => {
      const cwd = await emptyDirectory()
      const victim = join(cwd, 'victim')
      await writeFile(victim, 'export PATH')
      await mkdir(join(cwd, '.tabwire', name, '..'), { recursive: true })
      await symlink(victim, join(cwd, '.tabwire', name))
      const { code, stderr } = await tabwire(['start', '--port', '0'], { cwd })
      expect(code).toBe(1)
      expect(stderr).toContain(
        `Error: .tabwire/${name} is a symbolic link. Tabwire does not follow links in its data directory.`,
      )
      expect(await readFile(victim, 'utf8')).toBe('export PATH')
    },
  )

  test.each(['run.json', 'db.json', 'listen/secret'])(
    'with a pipe, %s, is refused, which no command would end to read',
    async (name) => {
      const cwd = await emptyDirectory()
      await mkdir(join(cwd, '.tabwire', name, '..'), { recursive: true })
      execFileSync('mkfifo', [join(cwd, '.tabwire', name)])
      expect(await tabwire(['doctor'], { cwd })).toMatchObject({
        code: 1,
        stdout: '',
        stderr: `Error: .tabwire/${name} is a pipe or a device, not a file. Remove it.\n`,
      })
    },
  )

  test('that git tracks is refused by every command, in any case of letters', async () => {
    for (const name of ['.tabwire', '.TABWIRE']) {
      const cwd = await emptyDirectory()
      await mkdir(join(cwd, name))
      await writeFile(join(cwd, name, 'credentials.json'), '{"api_key":"twk_planted"}')
      execFileSync('git', ['init'], { cwd, stdio: 'ignore' })
      execFileSync('git', ['add', '-f', '.'], { cwd, stdio: 'ignore' })
      await mkdir(join(cwd, '.tabwire'), { recursive: true })
      for (const args of [
        ['start', '--port', '0'],
        ['locations', '--url', service.url],
      ]) {
        const { code, stdout, stderr } = await tabwire(args, { cwd })
        expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
        expect(stderr).toBe(
          `Error: Git tracks ${name}/credentials.json, so everyone with the repository knows the keys in .tabwire. Remove it from the repository with git rm -r --cached -- .tabwire, or use another directory: --data-dir DIRECTORY.\n`,
        )
      }
    }
  })
})

describe('a data directory that this installation did not make', () => {
  const planted = { api_key: 'twk_planted', table_secret: 'planted' }

  test('is reported at each start, with the next step', async () => {
    const cwd = await emptyDirectory()
    await mkdir(join(cwd, '.tabwire', 'listen'), { recursive: true, mode: 0o700 })
    await writeFile(join(cwd, '.tabwire', 'credentials.json'), JSON.stringify(planted))
    await writeFile(
      join(cwd, '.tabwire', 'listen', 'secret'),
      JSON.stringify({ signing_secret: `whsec_${'a'.repeat(43)}` }),
    )
    for (let start = 0; start < 2; start++) {
      const running = await startService([], { cwd })
      const { stderr } = await running.stop()
      expect(stderr).toContain(
        'Warning: Another installation or an earlier version created .tabwire: the API key in credentials.json',
      )
      expect(stderr).toContain('the signing secret in listen/secret')
      // The directory of an earlier version is the user's own, so that its removal is not the first advice.
      expect(stderr).toMatch(
        /If the directory is yours, run `tabwire config trust .+`\. If not, .+ remove \.tabwire /,
      )
    }
  })

  test('is not reported when this installation created or marked it', async () => {
    const cwd = await emptyDirectory()
    for (let start = 0; start < 2; start++) {
      const running = await startService([], { cwd })
      expect((await running.stop()).stderr).toBe('')
    }
    const copied = await emptyDirectory()
    await mkdir(join(copied, '.tabwire'), { mode: 0o700 })
    await writeFile(join(copied, '.tabwire', 'credentials.json'), JSON.stringify(planted))
    await markAsOwn(join(copied, '.tabwire'))
    const running = await startService([], { cwd: copied })
    expect((await running.stop()).stderr).toBe('')
    expect(running.key).toBe('twk_planted')
  })

  test('with the mark of another installation is reported', async () => {
    const cwd = await emptyDirectory()
    await (await startService([], { cwd })).stop()
    const running = await startService([], { cwd, env: { XDG_STATE_HOME: await emptyDirectory() } })
    const { stderr } = await running.stop()
    expect(stderr).toContain('This installation did not create .tabwire')
    expect(stderr).toContain('Remove .tabwire to create new ones.')
  })

  test('is not reported when the mark cannot be stored, and the start succeeds', async () => {
    const cwd = await emptyDirectory()
    await writeFile(join(cwd, 'file'), '')
    const running = await startService([], { cwd, env: { XDG_STATE_HOME: join(cwd, 'file') } })
    expect((await running.stop()).stderr).toBe('')
  })
})
