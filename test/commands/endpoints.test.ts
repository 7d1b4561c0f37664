import { mkdirSync } from 'node:fs'
import { access, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { eventTypes } from '../../src/model/event.ts'
import type { WebhookEndpointView } from '../../src/model/webhook-endpoint.ts'
import { emptyDirectory, serve, spawnTabwire, type RunningService } from '../support/cli.ts'
import { openForeignService } from '../support/foreign-service.ts'
import { startReceiver } from '../support/https-receiver.ts'
import { expectMode } from '../support/file-mode.ts'

type Created = WebhookEndpointView & { signing_secret?: string }

let service: RunningService
beforeAll(async () => {
  service = await serve()
  return async () => {
    await service.stop()
  }
})

const url = 'https://127.0.0.1:9/webhooks'
const create = (...more: string[]) => service.json<Created>('endpoints', 'create', url, ...more)

describe.concurrent('tabwire endpoints', () => {
  test('show and delete take the URL of one endpoint, and name the ids of several', async () => {
    const own = 'https://127.0.0.1:9/by-url'
    const add = () => service.json<Created>('endpoints', 'create', own)
    const [one, other] = [await add(), await add()]
    const several = await service.run(['endpoints', 'show', own])
    expect(several.code).toBe(2)
    expect(several.stderr).toContain(`2 endpoints have the URL ${own}. Pass the id of one:\n`)
    expect(several.stderr).toContain(`  ${other.id}  enabled\n`)
    await service.json('endpoints', 'delete', other.id)
    expect(await service.json('endpoints', 'show', own)).toMatchObject({ id: one.id })
    expect(await service.json('endpoints', 'delete', own)).toMatchObject({ id: one.id })
    expect(await service.run(['endpoints', 'delete', own])).toMatchObject({
      code: 1,
      stderr: `Error: No endpoint has the URL ${own}. List endpoints with: tabwire endpoints list\n`,
    })
  })

  test('create prints the secret once, on stdout, and messages on stderr', async () => {
    const { code, stdout, stderr } = await service.run([
      'endpoints',
      'create',
      url,
      '--events',
      'check.closed',
    ])
    expect(code).toBe(0)
    const [, id = '', secret = ''] =
      /^endpoint {2}(we_\w{26})\n[^]*\nsecret {4}(whsec_\S{43})\n$/.exec(stdout) ?? []
    expect(stdout).toContain(`\nurl       ${url}\nevents    check.closed\nstatus    enabled\n`)
    expect(stderr).toMatch(
      new RegExp(`^Store the secret now: it is not shown again\\.\\nNext: tabwire ping ${id}\\n`),
    )
    const shown = await service.run(['endpoints', 'show', id])
    expect(shown.stdout).toContain(id)
    expect(shown.stdout).not.toContain(secret)
    expect(await (await service.call('GET', '/_sim/requests')).text()).not.toContain(secret)
  })

  test('create --json prints the response of the API, and --events accepts commas and repetition', async () => {
    const endpoint = await create('--events', 'check.created, check.updated', '--events', 'claim.created')
    expect(endpoint).toMatchObject({
      url,
      event_types: ['check.created', 'check.updated', 'claim.created'],
      signing_secret: expect.stringMatching(/^whsec_/) as string,
    })
  })

  test('create takes the events from TABWIRE_EVENTS, and all means every type', async () => {
    const named = { env: { TABWIRE_EVENTS: 'check.created,check.closed' } }
    const { stdout } = await service.run(['endpoints', 'create', url, '--json'], named)
    expect(JSON.parse(stdout)).toMatchObject({ event_types: ['check.created', 'check.closed'] })
    expect(await create('--events', 'all')).toMatchObject({ event_types: [...eventTypes] })
  })

  test('create accepts the URL after --events', async () => {
    expect(
      await service.json<Created>('endpoints', 'create', '--events', 'check.created,check.closed', url),
    ).toMatchObject({ url, event_types: ['check.created', 'check.closed'] })
  })

  test('create without --events registers for every type', async () => {
    const { event_types } = await service.json<WebhookEndpointView>(
      'endpoints',
      'create',
      'https://every.example/',
    )
    expect(event_types).toEqual([...eventTypes])
  })

  test('create --secret-file writes the secret to a file that only its owner can read, not to stdout', async () => {
    const path = join(service.cwd, 'secret')
    await writeFile(path, 'an older and much longer secret that everybody may read, which is replaced', {
      mode: 0o644,
    })
    const { stdout, stderr } = await service.run([
      'endpoints',
      'create',
      url,
      '--events',
      'all',
      '--secret-file',
      'secret',
    ])
    const secret = await readFile(path, 'utf8')
    expect(secret).toMatch(/^whsec_\S{43}\n$/)
    await expectMode(path, 0o600)
    expect(stdout + stderr).not.toContain(secret.trim())
    expect(stderr).toContain('The secret is in secret, whose earlier content is replaced.\n')
  })

  test('create and ping name other endpoints with the same URL and events', async () => {
    const again = 'https://127.0.0.1:9/again'
    const one = await service.json<Created>('endpoints', 'create', again, '--events', 'check.created')
    const apart = await service.run(['endpoints', 'create', again, '--events', 'check.closed'])
    expect(apart.stderr).not.toContain('this URL')
    const { stderr, stdout } = await service.run(['endpoints', 'create', 'https://127.0.0.1:9/a/../again'])
    expect(stderr).toMatch(
      new RegExp(
        `\\n2 other endpoints have this URL, with another secret, and some of the same events\\. To remove:\\n  tabwire endpoints delete we_\\w+\\n  tabwire endpoints delete ${one.id}\\n$`,
      ),
    )
    const [, id = ''] = /^endpoint {2}(we_\w{26})\n/.exec(stdout) ?? []
    const ping = await service.run(['ping', again])
    expect(ping.stderr).toContain(`3 endpoints have this URL. This pings the newest, ${id}.\n`)
  })

  test('create and ping find an endpoint that is older than a hundred others', async () => {
    const crowded = await serve()
    const register = (path: string) =>
      crowded.call('POST', '/v1/webhook-endpoints', {
        url: `https://127.0.0.1:9/${path}`,
        event_types: ['check.created'],
      })
    const { id } = (await (await register('oldest')).json()) as Created
    await Promise.all(Array.from({ length: 100 }, async (_, number) => register(String(number))))
    const oldest = 'https://127.0.0.1:9/oldest'
    const ping = await crowded.run(['ping', oldest, '--json'])
    expect(JSON.parse(ping.stdout)).toMatchObject({ outcome: 'connection_refused' })
    const { stderr } = await crowded.run(['endpoints', 'create', oldest])
    expect(stderr).toContain(`To remove:\n  tabwire endpoints delete ${id}\n`)
    await crowded.stop()
  })

  test.each([
    ['no/such/folder', 'ENOENT'],
    ['none/', 'EISDIR'],
  ])('create registers nothing when the secret cannot be written to %s', async (file, reason) => {
    const doomed = `https://127.0.0.1:9/doomed/${reason}`
    const args = ['endpoints', 'create', doomed, '--events', 'all', '--secret-file', file]
    const { code, stderr } = await service.run(args)
    expect(code).toBe(1)
    expect(stderr).toBe(`Error: Cannot write ${file} (${reason}). Choose another file.\n`)
    expect(await (await service.call('GET', '/v1/webhook-endpoints?limit=100')).text()).not.toContain(doomed)
    await expect(access(join(service.cwd, 'no'))).rejects.toThrow()
  })

  test('create writes the secret to the file of TABWIRE_NEW_SECRET_FILE, not of TABWIRE_SECRET_FILE', async () => {
    const cwd = join(service.cwd, 'variables')
    await mkdir(cwd)
    await writeFile(join(cwd, 'kept'), 'mine')
    const env = { TABWIRE_SECRET_FILE: 'kept', TABWIRE_NEW_SECRET_FILE: 'new' }
    const args = ['endpoints', 'create', url, '--data-dir', '../.tabwire']
    expect(await service.run(args, { cwd, env })).toMatchObject({ code: 0 })
    expect(await readFile(join(cwd, 'kept'), 'utf8')).toBe('mine')
    expect(await readFile(join(cwd, 'new'), 'utf8')).toMatch(/^whsec_\S{43}\n$/)
  })

  test.skipIf(process.platform === 'win32')(
    'create leaves no draft of the secret behind when a signal ends it',
    async ({ onTestFinished }) => {
      const silent = await startReceiver({ answer: 'hang' })
      onTestFinished(() => silent.close())
      const cwd = await emptyDirectory()
      const args = ['endpoints', 'create', url, '--secret-file', 'secret', '--url', silent.url]
      const creating = await spawnTabwire(args, { cwd })
      await silent.received(1)
      expect(await readdir(cwd)).toEqual([expect.stringMatching(/^\.secret\..*\.tmp$/)])
      creating.child.kill('SIGTERM')
      expect(await creating.ended).toMatchObject({ code: 130 })
      expect(await readdir(cwd)).toEqual([])
    },
  )

  test('create leaves no file behind when the variables cannot be written', async () => {
    const cwd = join(service.cwd, 'both')
    await mkdir(cwd)
    const args = ['endpoints', 'create', url, '--secret-file', 'secret', '--dotenv', 'no/such/.env']
    const { code, stderr } = await service.run([...args, '--data-dir', '../.tabwire'], { cwd })
    expect(code).toBe(1)
    expect(stderr).toContain('no/such/.env')
    expect(await readdir(cwd)).toEqual([])
  })

  test('create --json prints only the error when a response has no secret to write', async ({
    onTestFinished,
  }) => {
    const foreign = await openForeignService(
      { registered: ({ id }) => ({ status: 201, json: { id } }) },
      onTestFinished,
    )
    const connection = ['--url', foreign.baseUrl.replace(/\/v1$/, ''), '--api-key', foreign.apiKey]
    const args = ['endpoints', 'create', url, '--json', '--secret-file', 'none.secret', ...connection]
    const { code, stdout, stderr } = await service.run(args)
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'no_secret' } })
    expect(JSON.parse(stderr)).toMatchObject({ id: expect.any(String) as string })
  })

  test('create prints the whole response when the secret cannot be written after the registration', async ({
    onTestFinished,
  }) => {
    const cwd = await emptyDirectory()
    const foreign = await openForeignService(
      {
        registered({ id, secret }) {
          // The file could be written before.
          mkdirSync(join(cwd, '.env'))
          return { status: 201, json: { id, signing_secret: secret } }
        },
      },
      onTestFinished,
    )
    const connection = ['--url', foreign.baseUrl.replace(/\/v1$/, ''), '--api-key', foreign.apiKey]
    const args = ['endpoints', 'create', url, '--dotenv', '.env', ...connection]
    const printed = await service.run(args, { cwd })
    expect(printed).toMatchObject({ code: 1, stdout: expect.stringMatching(/whsec_/) as string })
    expect(printed.stderr).toMatch(/^Error: Cannot write \.env \(/)
    await rm(join(cwd, '.env'), { recursive: true })
    const { code, stdout, stderr } = await service.run([...args, '--json'], { cwd })
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'unwritable_file' } })
    expect(JSON.parse(stderr)).toMatchObject({ signing_secret: expect.stringMatching(/^whsec_/) as string })
  })

  test('create refuses an unknown event type and lists the known ones', async () => {
    const { code, stdout, stderr } = await service.run([
      'endpoints',
      'create',
      url,
      '--events',
      'check.closd',
    ])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(
      `Error: --events must be event types or all, got "check.closd". Did you mean check.closed? Event types: ${eventTypes.join(', ')}.`,
    )
  })

  test('create refuses plain http, as the specification does', async () => {
    for (const [url, flag] of [
      ['http://127.0.0.1:9/', '--allow-http-loopback'],
      ['http://pos.test/', '--allow-http-host pos.test'],
    ] as const) {
      const { code, stderr } = await service.run(['endpoints', 'create', url, '--events', 'all'])
      expect(code).toBe(2)
      expect(stderr).toBe(
        `Error: URL must be an https: URL, got "${url}". For plain HTTP, run: tabwire listen --forward-to ${url}. Or restart the service with: tabwire start ${flag}\n`,
      )
    }
  })

  test('list prints a line per endpoint without secrets, and delete removes an endpoint', async () => {
    const { id, signing_secret = '' } = await create('--events', 'all')
    const listed = await service.run(['endpoints', 'list', '--limit', '100'])
    expect(listed.stdout).toMatch(/^ENDPOINT {23}STATUS {3}URL {27}EVENTS\n/)
    expect(listed.stdout).toContain(`\n${id}  enabled  ${url}  all\n`)
    expect(listed.stdout).not.toContain(signing_secret)
    const deleted = await service.json('endpoints', 'delete', id)
    expect(deleted).toMatchObject({ id, url })
    expect(deleted).not.toHaveProperty('signing_secret')
    for (const verb of ['show', 'delete']) {
      const { code, stdout, stderr } = await service.run(['endpoints', verb, id])
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(
        new RegExp(`^Error: 404 not_found: Webhook endpoint ${id} not found at this key's location\\.`),
      )
    }
  })
})
