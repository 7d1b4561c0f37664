import { existsSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  checkBody,
  emptyDirectory,
  serve,
  spawnTabwire,
  tabwire,
  type RunningService,
} from '../support/cli.ts'
import { startReceiver } from '../support/https-receiver.ts'

let service: RunningService
beforeAll(async () => {
  service = await serve({ allowHttpLoopback: true, disableAfter: 1 })
  return () => service.stop()
})

const push = (id: string, changes = {}) =>
  service.call('PUT', `/v1/checks/external/${id}`, checkBody(changes))

test('a data directory that is not there is an error, and no service at the default address is asked', async () => {
  const cwd = await emptyDirectory()
  await writeFile(join(cwd, 'file'), '')
  for (const [directory, what] of [
    ['nowhere', 'does not exist'],
    ['file', 'is not a directory'],
  ] as const)
    expect(await tabwire(['checks', 'list', '--data-dir', directory], { cwd })).toMatchObject({
      code: 2,
      stderr: `Error: --data-dir: ${directory} ${what}. Correct it, or pass --url with the URL of a service.\n`,
    })
})

describe('a list', () => {
  test('of checks says how to see the next page, if there is one', async () => {
    // Other tests push to other tables.
    for (const id of ['one', 'two', 'three']) await push(id, { table: { number: '77' } })
    const list = ['checks', 'list', '--table', '77', '--limit', '2']
    const { stdout, stderr } = await service.run(list)
    expect(stdout.trim().split('\n')).toHaveLength(3)
    const [, cursor = ''] =
      /^More: add --cursor (\S+), or --limit N for up to 100 at once\.\n$/.exec(stderr) ?? []
    const next = await service.run([...list, '--cursor', cursor])
    expect(next.stdout).toContain('one')
    expect(next.stderr).toBe('')
    expect((await service.run([...list, '--json'])).stderr).toBe('')
  })

  test('of deliveries, events, keys or requests says so too', async () => {
    const other = await serve({ allowHttpLoopback: true })
    onTestFinished(async () => {
      await other.stop()
    })
    const endpoint = { url: 'http://127.0.0.1:1/', event_types: ['check.created'] }
    await other.call('POST', '/v1/webhook-endpoints', endpoint)
    await other.call('POST', '/_sim/keys', {})
    for (const id of ['one', 'two']) await other.call('PUT', `/v1/checks/external/${id}`, checkBody())
    for (const records of ['deliveries', 'events', 'keys', 'requests']) {
      const { stderr } = await other.run([records, 'list', '--limit', '1'])
      expect({ records, stderr }).toEqual({
        records,
        stderr: expect.stringMatching(/^More: add --cursor /) as string,
      })
    }
  })
})

describe('tabwire requests show', () => {
  test('says which requests the service keeps when the request is unknown', async () => {
    const { code, stderr } = await service.run(['requests', 'show', 'req_01K9YQ3S2M6W5VJ8T4R7N0ZBCD'])
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'Error: No request req_01K9YQ3S2M6W5VJ8T4R7N0ZBCD. The service keeps at most the newest 1,000 requests. Run `tabwire requests list`.\n',
    })
  })

  test('says when a body was too large to be kept', async () => {
    const response = await push('large', { note: 'x'.repeat(2 ** 21) })
    expect(response.status).toBe(413)
    const { stdout } = await service.run(['requests', 'show', response.headers.get('x-request-id') ?? ''])
    expect(stdout).toContain('    request body: not kept, because it was too large to be read\n')
  })
})

test('tabwire ping says that all endpoints are disabled, and how to register them again', async () => {
  const other = await serve({ allowHttpLoopback: true, disableAfter: 1 })
  const receiver = await startReceiver({ answer: 500 })
  expect((await other.run(['ping'])).stderr).toBe(
    'Error: No endpoint is registered. Register one with: tabwire endpoints create URL\n',
  )
  await other.call('POST', '/v1/webhook-endpoints', { url: receiver.url, event_types: ['check.created'] })
  await other.call('PUT', '/v1/checks/external/a', checkBody())
  await receiver.received(1)
  await other.call('POST', '/_sim/clock', { advance: '36h' })
  const told = `Register it again with: tabwire endpoints create ${receiver.url}\n`
  expect((await other.run(['ping'])).stderr).toBe(
    `Error: The only endpoint is disabled, because too many deliveries in a row failed. ${told}`,
  )
  expect((await other.run(['ping', receiver.url])).stderr).toBe(
    `Error: The endpoint with the URL ${receiver.url} is disabled. ${told}`,
  )
  await other.stop()
  await receiver.close()
})

describe('tabwire push', () => {
  test('accepts the array that `checks samples` prints', async () => {
    const { stdout: printed } = await tabwire(['checks', 'samples', 'bar-tab'])
    await writeFile(join(service.cwd, 'tab.json'), printed)
    const { code, stdout } = await service.run(['push', 'tab.json'])
    expect(code).toBe(0)
    expect(stdout.match(/^(created|updated) {2}tab /gm)).toHaveLength(6)
    const again = await service.run(['push', '-', '--id', 'piped'], { input: printed })
    expect(again.stdout.match(/^(created|updated) {2}piped /gm)).toHaveLength(6)
    const permuted = await service.run(['push', 'tab.json', '--permute', '2'])
    expect(permuted.stdout).toMatch(/^✓ tab {2}6 pushes: /)
  })

  test.skipIf(process.platform === 'win32')('--watch continues after a refused file', async () => {
    const body = (total: unknown) =>
      JSON.stringify(checkBody({ totals: { subtotal_cents: 3680, tax_cents: 322, total_cents: total } }))
    await writeFile(join(service.cwd, 'bad.json'), body('many'))
    await writeFile(join(service.cwd, 'good.json'), body(4002))
    const watching = await spawnTabwire(['push', 'bad.json', 'good.json', '--watch'], { cwd: service.cwd })
    await watching.until('stderr', /422 validation_failed[^]*Watching for changes/)
    await watching.until('stdout', /^created {2}good /m)
    await writeFile(join(service.cwd, 'bad.json'), body(4002))
    await watching.until('stdout', /^created {2}bad /m)
    watching.child.kill('SIGINT')
    expect((await watching.ended).code).toBe(130)
  })

  test('--permute prints totals with their currency', async () => {
    await mkdir(join(service.cwd, 'orders'))
    for (const [name, price] of Object.entries({ a: 1000, b: 2000 }))
      await writeFile(
        join(service.cwd, 'orders', `${name}.json`),
        JSON.stringify(
          checkBody({
            items: [{ external_id: 'x', name: 'Tea', quantity: 1, price_cents: price }],
            totals: { subtotal_cents: price, tax_cents: 0, total_cents: price },
          }),
        ),
      )
    const { code, stdout } = await service.run([
      'push',
      'orders/a.json',
      'orders/b.json',
      '--id',
      'x',
      '--permute',
      '9',
    ])
    expect(code).toBe(3)
    expect(stdout).toMatch(/total \$10\.00[^]*total \$20\.00|total \$20\.00[^]*total \$10\.00/)
  })
})

test.each<[string, string[]]>([
  ['push', ['push', 'missing.json']],
  ['push, a pattern', ['push', 'missing*.json']],
  ['sign --body', ['sign', '--secret', 'whsec_a', '--body', 'missing']],
  ['verify --body', ['verify', '--secret', 's', '--header', 't=1,v1=0', '--body', 'missing']],
  ['verify --many', ['verify', '--secret', 's', '--many', 'missing']],
  ['--api-key-file', ['checks', 'list', '--api-key-file', 'missing']],
  ['--cacert', ['checks', 'list', '--cacert', 'missing.pem']],
  ['--config', ['checks', 'list', '--config', 'missing.json']],
])('a missing input file exits with 2: %s', async (_what, args) => {
  expect((await service.run(args)).code).toBe(2)
})

describe('help', () => {
  test('of a command or a topic is JSON with --json', async () => {
    const one = JSON.parse((await tabwire(['help', 'push', '--json'])).stdout) as {
      flags: { name: string }[]
    }
    expect(one).toMatchObject({
      name: 'push',
      summary: 'Push checks from JSON files.',
      args: [{ name: 'FILE' }],
    })
    expect(one.flags.map(({ name }) => name)).toContain('--watch')
    const topic = JSON.parse((await tabwire(['help', 'checks', '--json'])).stdout) as {
      data: { name: string }[]
    }
    expect(topic.data.map(({ name }) => name).sort()).toEqual([
      'checks list',
      'checks samples',
      'checks show',
    ])
    const all = JSON.parse((await tabwire(['help', '--json'])).stdout) as { data: { name: string }[] }
    expect(all.data.map(({ name }) => name)).not.toContain('complete')
  })

  test.each([
    [
      ['help', 'ci', 'extra'],
      'Error: Unexpected argument after the guide ci: extra. Run `tabwire help ci`.\n',
    ],
    [['guides'], 'Error: Unknown command "guides". Did you mean `tabwire help guides`?\n'],
    [['webhooks'], 'Error: Unknown command "webhooks". Did you mean `tabwire help webhooks`?\n'],
  ])('suggests the guide for %j', async (args, stderr) => {
    expect(await tabwire(args)).toMatchObject({ code: 2, stderr })
  })

  test('tabwire without arguments shows an example that takes its secret from listen', async () => {
    const { stdout } = await tabwire([])
    expect(stdout).toMatch(
      / (?:tabwire listen --print-secret > listen\.secret|cmd \/c "tabwire listen --print-secret > listen\.secret")$/m,
    )
    expect(stdout).toContain('--secret-file listen.secret')
  })
})

describe('tabwire checks samples', () => {
  test('has amounts with their currency, and whole names at 60 columns', async () => {
    const { stdout } = await tabwire(['checks', 'samples'], { env: { COLUMNS: '60' } })
    expect(stdout).toContain(
      '\ntax-inclusive-net-subtotal    1       3      $41.10\n  Prices include tax; the subtotal does not\n',
    )
    expect(stdout).not.toContain('…')
  })
})

describe('tabwire exec --https', () => {
  const print = 'console.log(JSON.stringify([process.env.TABWIRE_CACERT, process.env.NODE_EXTRA_CA_CERTS]))'
  const run = async (env: Record<string, string>) => {
    const cwd = await emptyDirectory()
    const { ended } = await spawnTabwire(['exec', '--https', '--', process.execPath, '-e', print], {
      cwd,
      env,
    })
    const { code, stdout } = await ended
    expect(code).toBe(0)
    return { cwd, told: JSON.parse(stdout) as [string, string] }
  }

  test('trusts the authority in Node programs, and leaves nothing in the working directory', async () => {
    const { cwd, told } = await run({ NODE_EXTRA_CA_CERTS: '' })
    expect(told[1]).toBe(told[0])
    expect(told[0]).toMatch(/ca\.pem$/)
    expect(existsSync(told[0])).toBe(false)
    expect(await readdir(cwd)).toEqual([])
  })

  test('removes the authority when the service cannot start', async () => {
    const TMPDIR = await emptyDirectory()
    const args = ['exec', '--https', '--cacert', 'missing.pem', '--', process.execPath, '-e', '']
    const { ended } = await spawnTabwire(args, { env: { TMPDIR } })
    expect(await ended).toMatchObject({ code: 2, stderr: expect.stringContaining('missing.pem') as string })
    expect(await readdir(TMPDIR)).toEqual([])
  })

  test('leaves a given NODE_EXTRA_CA_CERTS unchanged', async () => {
    const { told } = await run({ NODE_EXTRA_CA_CERTS: '/etc/hosts' })
    expect(told[1]).toBe('/etc/hosts')
  })
})

describe('--profile', () => {
  test('must be a name', async () => {
    const { code, stderr } = await service.run(['checks', 'list', '--profile', 'my shop'])
    expect(code).toBe(2)
    expect(stderr).toContain('--profile must be letters, digits, hyphens and underscores, got "my shop".')
  })

  test('names the profile whose cacert is missing', async () => {
    const cwd = await emptyDirectory()
    const profiles = { shop: { url: service.url, cacert: 'gone.pem' } }
    await writeFile(join(cwd, 'tabwire.config.json'), JSON.stringify({ profiles }))
    const { code, stderr } = await tabwire(['checks', 'list', '--profile', 'shop'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toMatch(
      /^Error: --profile shop: cannot read its cacert, .*gone\.pem\. Correct profiles\.shop\.cacert in tabwire\.config\.json\.\n$/,
    )
  })
})
