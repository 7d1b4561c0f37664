import { access, chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isSoak } from '../soak/seeded.ts'
import { checkBody, emptyDirectory, startService, tabwire } from '../support/cli.ts'
import { expectMode } from '../support/file-mode.ts'

/** A directory with such a `tabwire.config.json`. */
async function configured(content: unknown, name = 'tabwire.config.json'): Promise<string> {
  const cwd = await emptyDirectory()
  await mkdir(join(cwd, 'settings'))
  await writeFile(join(cwd, name), typeof content === 'string' ? content : JSON.stringify(content))
  return cwd
}

describe.concurrent('tabwire.config.json', () => {
  test('configures start, and other commands find its data', async () => {
    const cwd = await configured({
      $schema: 'x',
      port: 1,
      api_key: 'twk_file',
      strict: true,
      data_dir: 'kept',
    })
    await tabwire(['config', 'trust'], { cwd })
    const service = await startService([], { cwd })
    expect(service.key).toBe('twk_file')
    await access(join(cwd, 'kept', 'credentials.json'))
    const refused = await service.call('PUT', '/v1/checks/external/a', { ...checkBody(), surprise: 1 })
    expect(await refused.text()).toContain('strict mode')
    expect(await service.json('locations')).toMatchObject({ data: [{}, {}] })
    await service.stop()
  })

  test('is overridden by the environment, and the environment by flags, also with default values', async () => {
    const settings = {
      service_name: 'File',
      api_key: 'twk_file',
      strict: true,
      in_memory: true,
      sign_time: 'virtual',
    }
    const cwd = await configured(settings)
    await tabwire(['config', 'trust'], { cwd })
    const env = {
      TABWIRE_API_KEY: 'twk_environment',
      TABWIRE_STRICT: 'false',
      TABWIRE_SERVICE_NAME: 'Service',
    }
    const service = await startService(['--api-key', 'twk_line', '--no-in-memory', '--sign-time', 'real'], {
      cwd,
      env,
    })
    expect(service.key).toBe('twk_line')
    await access(join(cwd, '.tabwire', 'db.json')).catch(() =>
      access(join(cwd, '.tabwire', 'journal.ndjson')),
    )
    const unknown = { ...checkBody(), surprise: 1 }
    expect((await service.call('PUT', '/v1/checks/external/a', unknown)).status).toBe(201)
    const health = (await (await service.call('GET', '/_sim/health')).json()) as { service_name: string }
    expect(health.service_name).toBe('Service')
    await service.stop()
  })

  test.runIf(isSoak)(
    'can be in another place with --config or TABWIRE_CONFIG, and its paths are relative to it',
    async () => {
      const cwd = await configured('\ufeff{"data_dir": "data", "in_memory": false}', 'settings/ci.json')
      const service = await startService(['--config', 'settings/ci.json'], { cwd })
      await access(join(cwd, 'settings', 'data', 'run.json'))
      const found = await service.run(['locations'], { env: { TABWIRE_CONFIG: 'settings/ci.json' } })
      expect(found).toMatchObject({ code: 0, stderr: '' })
      await service.stop()
    },
  )

  test.each<[content: unknown, message: string | RegExp]>([
    ['{"port": 1,}', /^tabwire\.config\.json is not valid JSON: .*\.$/],
    ['{"data_dir": "C:\\data"}', /is not valid JSON: .* Write a backslash in a path as \\\\\.$/],
    ['[]', 'tabwire.config.json must be a JSON object, such as {"port": 4200}.'],
    [
      { port: '4100' },
      'tabwire.config.json: port must be a number, got a string. Send a JSON number without quotes.',
    ],
    [{ port: 70_000 }, 'tabwire.config.json: port must be at most 65535, got 70000.'],
    [{ sign_time: 'moon' }, 'tabwire.config.json: sign_time must be "real" or "virtual", got "moon".'],
    [
      { service_name: 'a b' },
      'tabwire.config.json: service_name must be 1 to 64 letters, digits and hyphens, without a hyphen at either end, got "a b".',
    ],
    [
      { 'data-dir': 'x' },
      /^tabwire\.config\.json: the file has an unknown key: "data-dir" \(did you mean data_dir\?\)\. Known keys are \$schema, port, host,/,
    ],
    [
      { env_file: '.env' },
      /^tabwire\.config\.json: the file has an unknown key: "env_file" \(now dotenv\)\. Known keys are /,
    ],
    [
      { strict: 1, host: 2 },
      'tabwire.config.json: host must be a string, got 2.\ntabwire.config.json: strict must be a boolean, got 1.',
    ],
    [{ listen: { forward: [] } }, 'tabwire.config.json: listen.forward must have at least 1 element.'],
  ])('exits with 2 and names file, key and valid values when it is invalid: %j', async (content, message) => {
    const cwd = await configured(content)
    const { code, stdout } = await tabwire(['start', '--json'], { cwd })
    const { error } = JSON.parse(stdout) as { error: { code: string; message: string } }
    expect(code).toBe(2)
    expect(error.code).toBe('invalid_config')
    if (typeof message === 'string') expect(error.message).toBe(message)
    else expect(error.message).toMatch(message)
  })

  test('exits with 2 when the file of --config is missing', async () => {
    const { code, stderr } = await tabwire(['start', '--config', 'nowhere.json'])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'Error: Cannot read the settings file nowhere.json: no such file. Correct --config.\n',
    })
  })
})

describe.concurrent('--dotenv', () => {
  test.skipIf(process.platform === 'win32')(
    'writes URL, key and secret for the application, and keeps other lines and the file',
    async () => {
      const cwd = await emptyDirectory()
      await writeFile(join(cwd, '.env'), '# mine\nTABWIRE_URL=old\nAPP=1\n')
      await chmod(join(cwd, '.env'), 0o644)
      const service = await startService(['--in-memory', '--dotenv', '.env'], { cwd })
      const create = ['endpoints', 'create', 'https://127.0.0.1:9/', '--events', 'all', '--dotenv', '.env']
      const { stdout, stderr } = await service.run(create)
      const started = await service.stop()
      expect(started.stderr).toContain(
        '.env now contains a secret, so only you can read it (mode 0644 → 0600).\n',
      )
      expect(stderr).not.toContain('only you can read it')
      const text = await readFile(join(cwd, '.env'), 'utf8')
      const id = /we_\w{26}/.exec(stdout)?.[0] ?? ''
      expect(text).toMatch(
        new RegExp(
          `^# mine\nTABWIRE_URL=${service.url}\nAPP=1\nTABWIRE_BASE_URL=${service.url}/v1\nTABWIRE_API_KEY=${service.key}\nTABWIRE_ENDPOINT_ID=${id}\nTABWIRE_SIGNING_SECRET=whsec_\\S{43}\n$`,
        ),
      )
      expect(stdout + stderr).not.toContain('whsec_')
      expect(stderr).toContain('The secret is in .env.\n')
    },
  )

  test.runIf(isSoak)('creates a file that only its owner can read, also from TABWIRE_DOTENV', async () => {
    const service = await startService(['--in-memory', '--dotenv', 'one.env'])
    const create = ['endpoints', 'create', 'https://127.0.0.1:9/', '--events', 'all']
    await service.run(create, { env: { TABWIRE_DOTENV: 'two.env' } })
    for (const name of ['one.env', 'two.env']) await expectMode(join(service.cwd, name), 0o600)
    await service.stop()
  })

  test('stops start when the file cannot be written', async () => {
    const refused = await tabwire(['start', '--in-memory', '--dotenv', 'no/.env'])
    expect(refused).toMatchObject({
      code: 1,
      stderr: 'Error: Cannot write no/.env (ENOENT). Choose another file.\n',
    })
  })
})
