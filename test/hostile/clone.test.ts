import { execFileSync } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { sampled } from '../soak/seeded.ts'
import {
  checkBody,
  emptyDirectory,
  serve,
  spawnTabwire,
  startService,
  tabwire,
  type RunningService,
} from '../support/cli.ts'
import { openHttpServer } from '../support/http-server.ts'

let service: RunningService
beforeAll(async () => {
  service = await serve()
  return async () => {
    await service.stop()
  }
})

/** A folder that was cloned into another one, with this `tabwire.config.json`. */
async function clone(settings: unknown): Promise<{ home: string; cwd: string }> {
  const home = await emptyDirectory()
  const cwd = join(home, 'clone')
  await mkdir(cwd)
  await writeFile(join(cwd, 'tabwire.config.json'), JSON.stringify(settings))
  return { home, cwd }
}

const start = (cwd: string, ...args: string[]) => tabwire(['start', '--port', '0', ...args], { cwd })

describe('tabwire.config.json of a clone', () => {
  test.each([
    [{ api_key: 'twk_planted' }, 'api_key'],
    [{ dotenv: '.env' }, 'dotenv'],
    [{ data_dir: 'elsewhere' }, 'data_dir'],
    [{ allowed_host: ['attacker.example'] }, 'allowed_host'],
    [{ allow_http_host: ['attacker.example'] }, 'allow_http_host'],
    [{ host: '0.0.0.0' }, 'host'],
    [{ insecure: true }, 'insecure'],
    [{ cacert: ['ca.pem'] }, 'cacert'],
    [{ seed: 7, in_memory: true }, 'seed'],
    [
      { strict: true, host: '0.0.0.0', api_key: 'twk_planted', insecure: true },
      'host, api_key, and insecure',
    ],
  ])('that sets %j is refused with these names, and nothing is written', async (settings, names) => {
    const { cwd } = await clone(settings)
    const { code, stdout, stderr } = await start(cwd)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe(
      `Error: tabwire.config.json sets ${names}, but you have not trusted this folder. The author of the file could read your key or overwrite files. Check the file, then run: tabwire config trust (or pass --config tabwire.config.json)\n`,
    )
    expect(await readdir(cwd)).toEqual(['tabwire.config.json'])
  })

  test.skipIf(process.platform === 'win32')('that is a pipe is refused', async () => {
    const cwd = await emptyDirectory()
    execFileSync('mkfifo', [join(cwd, 'tabwire.config.json')])
    expect(await tabwire(['config', 'trust'], { cwd })).toMatchObject({
      code: 2,
      stderr:
        'Error: Cannot read the settings file tabwire.config.json: it is a pipe. Remove the file, or make it readable.\n',
    })
  })

  test('that sets the data directory is refused by the commands that use it', async () => {
    const { cwd } = await clone({ data_dir: 'elsewhere' })
    for (const args of [['locations'], ['state', 'list'], ['certs', 'create', 'localhost'], ['doctor']]) {
      const { code, stderr } = await tabwire(args, { cwd })
      expect({ args, code }).toEqual({ args, code: 1 })
      expect(stderr).toContain('tabwire.config.json sets data_dir, but you have not trusted this folder.')
    }
  })

  test('applies harmless settings, and start prints them', async () => {
    const { cwd } = await clone({ $schema: 'x', strict: true, insecure: false, in_memory: true })
    const running = await startService([], { cwd })
    const refused = await running.call('PUT', '/v1/checks/external/a', { ...checkBody(), surprise: 1 })
    expect(await refused.text()).toContain('strict mode')
    expect((await running.stop()).stderr).toBe(
      'Settings from tabwire.config.json: strict, insecure, in_memory.\n',
    )
  })

  test('applies completely when the user names it or trusted the folder, until it changes', async () => {
    const settings = { api_key: 'twk_chosen', in_memory: true }
    const { cwd } = await clone(settings)
    const env = { TABWIRE_CONFIG: 'tabwire.config.json' }
    const named = await startService([], { cwd, env })
    await named.stop()
    expect(named.key).toBe('twk_chosen')
    expect((await start(cwd)).stderr).toContain('you have not trusted this folder')

    const trusted = await tabwire(['config', 'trust', '--json'], { cwd })
    expect(JSON.parse(trusted.stdout)).toEqual({
      config: 'tabwire.config.json',
      settings: ['api_key', 'in_memory'],
      data_dir: null,
    })
    const running = await startService([], { cwd })
    await running.stop()
    expect(running.key).toBe('twk_chosen')
    // Trust is of one user.
    const other = await tabwire(['start', '--port', '0'], {
      cwd,
      env: { XDG_STATE_HOME: await emptyDirectory() },
    })
    expect(other.stderr).toContain('you have not trusted this folder')
    await writeFile(join(cwd, 'tabwire.config.json'), JSON.stringify({ ...settings, strict: true }))
    // In a process of its own: one that ran before has read the file already.
    const changed = await (await spawnTabwire(['start', '--port', '0'], { cwd, isNewProcess: true })).ended
    expect(changed.stderr).toContain('you have not trusted this folder')
  })

  // Windows makes links for privileged users only.
  const linked = process.platform === 'win32' ? [] : ['link/authorized_keys']
  test.each(['../outside', '/etc', ...linked, 'sub/../../outside', 'a\nb'])(
    'cannot set a path outside its folder, even when trusted: %j',
    async (path) => {
      const { home, cwd } = await clone({ dotenv: path, in_memory: true })
      await mkdir(join(home, '.ssh'))
      if (linked.length > 0) await symlink(join(home, '.ssh'), join(cwd, 'link'))
      await tabwire(['config', 'trust'], { cwd })
      for (const args of [[], ['--config', 'tabwire.config.json']]) {
        const { code, stderr } = await start(cwd, ...args)
        expect(code).toBe(2)
        expect(stderr).toContain('tabwire.config.json: dotenv must be inside the folder of the file, got')
      }
      expect([await readdir(join(home, '.ssh')), await readdir(home)]).toEqual([[], ['.ssh', 'clone']])
    },
  )

  test.each(['data_dir', 'cacert'])('cannot set %s to a path outside its folder', async (key) => {
    const { cwd } = await clone({ [key]: key === 'cacert' ? ['../x'] : '../x' })
    const { code, stderr } = await start(cwd, '--config', 'tabwire.config.json')
    expect(code).toBe(2)
    expect(stderr).toContain(`tabwire.config.json: ${key} must be inside the folder of the file, got`)
  })

  test('cannot set a forward to another host, but can set one to this machine', async () => {
    const { cwd } = await clone({
      listen: {
        forward: [{ to: 'localhost:3000' }, { to: 'https://attacker.example/x' }, { to: '0x08080808' }],
      },
    })
    const env = { TABWIRE_URL: service.url, TABWIRE_API_KEY: service.key }
    const { code, stderr } = await tabwire(['listen'], { cwd, env })
    expect(code).toBe(1)
    expect(stderr).toContain(
      'tabwire.config.json sets listen.forward to attacker.example and listen.forward to 8.8.8.8, but you have not trusted this folder.',
    )
    const own = await clone({ listen: { forward: [{ to: 'localhost:9' }] } })
    const listening = await spawnTabwire(['listen', '--json'], { cwd: own.cwd, env })
    await listening.until('stdout', /"type":"ready"/)
    listening.child.kill('SIGINT')
    await listening.ended
  })
})

describe('an API key', () => {
  const bad = ['a b', 'a\nssh-ed25519 AAAA', 'a\u0001b', 'schlüssel', 'x'.repeat(513), '\u001b[8m']

  test.each(sampled(bad, 3))('is refused from every source, and not printed: %j', async (key) => {
    const says = 'must be 1 to 512 visible ASCII characters without spaces.'
    const { cwd } = await clone({ api_key: key, dotenv: '.env' })
    const bySettings = await start(cwd, '--config', 'tabwire.config.json')
    const byFlag = await tabwire(['start', '--port', '0', '--api-key', key])
    const byEnvironment = await tabwire(['locations', '--url', service.url], {
      env: { TABWIRE_API_KEY: key },
    })
    for (const { code, stderr, stdout } of [bySettings, byFlag, byEnvironment]) {
      expect(code).toBe(2)
      expect(stderr).toContain(says)
      expect(stderr + stdout).not.toContain(key)
    }
    expect(await readdir(cwd)).toEqual(['tabwire.config.json'])
  })

  test('in credentials.json or run.json is ignored when invalid', async () => {
    const cwd = await emptyDirectory()
    await mkdir(join(cwd, '.tabwire'), { mode: 0o700 })
    await writeFile(join(cwd, '.tabwire', 'credentials.json'), '{"api_key": "a\\nb"}')
    const { code, stderr } = await tabwire(['locations', '--url', service.url], { cwd })
    expect(code).toBe(4)
    expect(stderr).toContain('401 unauthorized: No API key found.')
  })
})

test('no control character from a service reaches a .env file', async () => {
  const secret = 'whsec_a\nssh-ed25519 AAAA'
  const { url } = await openHttpServer((_request, response) =>
    response
      .writeHead(201)
      .end(JSON.stringify({ id: 'we_1', url: 'https://a/', event_types: [], signing_secret: secret })),
  )
  const cwd = await emptyDirectory()
  await writeFile(join(cwd, '.env'), 'APP=1\n')
  const args = ['endpoints', 'create', 'https://a/', '--events', 'all', '--dotenv', '.env', '--url', url]
  const { code, stderr } = await tabwire(args, { cwd })
  expect(code).toBe(1)
  expect(stderr).toContain(
    'Cannot write TABWIRE_SIGNING_SECRET to .env: the value contains a control character.',
  )
  expect(await readFile(join(cwd, '.env'), 'utf8')).toBe('APP=1\n')
})

describe('tabwire config trust', () => {
  test('reports a folder without anything to trust', async () => {
    const { code, stderr } = await tabwire(['config', 'trust'])
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'Error: Nothing to trust: this folder has no tabwire.config.json, and .tabwire has no data from elsewhere.\n',
    })
  })

  test('names the profiles that become trusted', async () => {
    const cwd = await emptyDirectory()
    const profiles = { staging: { url: 'https://pay.example' } }
    await writeFile(join(cwd, 'tabwire.config.json'), JSON.stringify({ profiles }))
    expect(await tabwire(['config', 'trust'], { cwd })).toMatchObject({
      code: 0,
      stdout: 'settings  tabwire.config.json: profiles.staging\n',
    })
  })

  test.skipIf(process.platform === 'win32')('stores no trust when it is refused', async () => {
    const cwd = await emptyDirectory()
    const profiles = { staging: { url: 'https://pay.example' } }
    await writeFile(join(cwd, 'tabwire.config.json'), JSON.stringify({ profiles }))
    await mkdir(join(cwd, '.tabwire'))
    await chmod(join(cwd, '.tabwire'), 0o777)
    const { code, stderr } = await tabwire(['config', 'trust'], { cwd })
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Other users can write to .tabwire') as string,
    })
    const used = await tabwire(['locations', '--profile', 'staging'], { cwd })
    expect(used.stderr).toContain('you have not trusted this folder')
  })

  test('trusts a data directory made elsewhere, so that a start does not warn', async () => {
    const cwd = await emptyDirectory()
    await mkdir(join(cwd, '.tabwire'), { mode: 0o700 })
    await writeFile(join(cwd, '.tabwire', 'credentials.json'), '{"api_key": "twk_mine"}')
    const { code, stdout } = await tabwire(['config', 'trust'], { cwd })
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'data  .tabwire: the API key in credentials.json\n' })
    const running = await startService([], { cwd })
    expect((await running.stop()).stderr).toBe('')
  })
})
