import { beforeAll, describe, expect, test } from 'vitest'
import { isSoak } from '../soak/seeded.ts'
import type { Wanted } from '../../src/assertions/delivered-verdict.ts'
import { waitForDeliveries } from '../../src/assertions/wait.ts'
import type { List } from '../../src/client.ts'
import type { Delivery } from '../../src/model/delivery.ts'
import { checkBody, spawnTabwire, serve, type RunningService } from '../support/cli.ts'
import { startReceiver, type Receiver } from '../support/https-receiver.ts'
import { openReceiver, openSimulator } from '../support/simulator.ts'

let service: RunningService
let good: Receiver
let bad: Receiver
const ids = { good: '', bad: '' }

beforeAll(async () => {
  service = await serve({ allowHttpLoopback: true, disableAfter: 0 })
  good = await startReceiver()
  bad = await startReceiver({ answer: 500 })
  ids.good = await register(service, good.url, ['check.created', 'check.updated'])
  ids.bad = await register(service, bad.url, ['check.closed'])
  await push('dinner')
  expect((await wait('--check', 'dinner', '--timeout', '600')).code).toBe(0)
  return async () => {
    await service.stop()
    await Promise.all([good.close(), bad.close()])
  }
})

async function register({ call }: RunningService, url: string, event_types: string[]): Promise<string> {
  const answer = await call('POST', '/v1/webhook-endpoints', { url, event_types })
  return ((await answer.json()) as { id: string }).id
}

const push = (id: string, changes = {}) =>
  service.call('PUT', `/v1/checks/external/${id}`, checkBody(changes))
const wait = (...args: string[]) => service.run(['deliveries', 'wait', ...args])

/** A `wait` that listens already, and has not found what it waits for. */
async function waiting(...args: string[]) {
  const options = { cwd: service.cwd }
  const running = await spawnTabwire(['deliveries', 'wait', '--timeout', '600', ...args], options)
  await running.until('stderr', /Waiting/)
  return running
}

/** Pushes a closed check, which the bad receiver refuses, and returns when that is on record. */
async function refused(check: string): Promise<Delivery> {
  await push(check, { status: 'closed' })
  for (;;) {
    const path = `/_sim/deliveries?type=check.closed&external_check_id=${check}`
    const { data } = (await (await service.call('GET', path)).json()) as List<Delivery>
    const [delivery] = data.filter(({ attempts }) => attempts.length > 0)
    if (delivery !== undefined) return delivery
  }
}

describe.concurrent('tabwire deliveries wait', () => {
  test('takes the id or the URL of an endpoint, and refuses an unknown one also when none is expected', async () => {
    for (const endpoint of [ids.good, good.url]) {
      expect((await wait('--endpoint', endpoint, '--check', 'dinner')).code).toBe(0)
      expect((await wait('--endpoint', endpoint, '--none', '--timeout', '0')).code).toBe(3)
    }
    const unknown = [
      ['id', 'we_nope'],
      ['URL', 'https://nowhere.example/'],
    ] as const
    for (const [field, endpoint] of unknown)
      for (const command of ['deliveries wait --none --timeout 0', 'deliveries list', 'tail'])
        expect(await service.run([...command.split(' '), '--endpoint', endpoint])).toMatchObject({
          code: 1,
          stdout: '',
          stderr: `Error: No endpoint has the ${field} ${endpoint}. List endpoints with: tabwire endpoints list\n`,
        })
  })

  test('finds the deliveries to an endpoint that was removed', async () => {
    const own = await serve({ allowHttpLoopback: true })
    const { id } = await own.json<{ id: string }>('endpoints', 'create', good.url)
    await own.call('PUT', '/v1/checks/external/a', checkBody())
    const filter = ['--check', 'a', '--endpoint', id]
    expect((await own.run(['deliveries', 'wait', ...filter])).code).toBe(0)
    await own.run(['endpoints', 'delete', good.url])
    expect((await own.run(['deliveries', 'wait', ...filter])).code).toBe(0)
    await own.stop()
  })

  test('exits with 0 and prints the deliveries when they already exist', async () => {
    const { code, stdout, stderr } = await wait('--type', 'check.created', '--check', 'dinner')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^✓ check\.created {2}dinner {2}delivered {2}dlv_\w{26}\n$/)
    const { data } = await service.json<List<Delivery>>('deliveries', 'wait', '--check', 'dinner')
    expect(data).toEqual([await service.json('deliveries', 'show', data[0]?.id ?? '')])
  })

  test('waits for a later delivery, and for as many deliveries as --count', async () => {
    const [one, two] = await Promise.all([
      waiting('--check', 'later', '--endpoint', ids.good),
      waiting('--check', 'later', '--count', '2', '--json'),
    ])
    expect(await one.until('stderr', /\n/)).toBe(
      `Waiting up to 600 s for 1 successful delivery for check later to ${ids.good}.\n`,
    )
    await push('later')
    expect(await one.ended).toMatchObject({ code: 0 })
    expect(two.child.exitCode).toBe(null)
    await push('later', { table: { number: '13' } })
    const { code, stdout } = await two.ended
    expect(code).toBe(0)
    const { data } = JSON.parse(stdout) as List<Delivery>
    expect(data.map(({ event_type, status }) => `${event_type} ${status}`).sort()).toEqual([
      'check.created delivered',
      'check.updated delivered',
    ])
  })

  test('exits with 3 when no delivery arrived in time, and names what it expected', async () => {
    for (const timeout of ['0', '1']) {
      const { code, stdout, stderr } = await wait('--check', 'none', '--count', '2', '--timeout', timeout)
      expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
      expect(stderr).toContain(
        'Error: Expected 2 successful deliveries for check none; none arrived. Check `tabwire endpoints list` and `tabwire events list`.',
      )
    }
    const fewer = await wait('--check', 'dinner', '--count', '3', '--timeout', '0')
    expect(fewer.code).toBe(3)
    expect(fewer.stderr).toMatch(/^Error: Expected 3 successful deliveries for check dinner, found 1\.\n$/)
  })

  test('exits with 3 when the receiver refused the delivery, with the reason of the last attempt', async () => {
    const { id } = await refused('refused')
    const args = ['--type', 'check.closed', '--check', 'refused', '--timeout', '0']
    const { code, stderr } = await wait(...args)
    expect(code).toBe(3)
    expect(stderr).toMatch(
      /^Error: Expected 1 delivered check\.closed for check refused; dlv_\w{26} failed at attempt 1: The receiver returned 500\. Only 2xx counts as delivered\. The next attempt is at \d{4}-\S+ \S+ UTC\.\n$/,
    )
    expect(stderr).toContain(id)
    const none = ['--type', 'check.closed', '--check', 'refused', '--none', '--timeout', '0']
    expect((await wait(...none)).stderr).toMatch(
      /^Error: Expected no check\.closed for check refused, found dlv_/,
    )
    expect((await wait(...none, '--status', 'delivered')).code).toBe(0)
    const asJson = await wait(...args, '--json')
    expect(asJson.code).toBe(3)
    expect(JSON.parse(asJson.stdout)).toMatchObject({ error: { code: 'refused' } })
  })

  test.runIf(isSoak)('exits with 3 when the last attempt failed, and names the attempt', async () => {
    const own = await serve({ allowHttpLoopback: true, disableAfter: 0 })
    await register(own, bad.url, ['check.created'])
    await own.call('PUT', '/v1/checks/external/lost', checkBody())
    await own.json('clock', 'advance', '36h')
    const { code, stderr } = await own.run([
      'deliveries',
      'wait',
      '--type',
      'check.created',
      '--timeout',
      '0',
    ])
    expect(code).toBe(3)
    expect(stderr).toMatch(
      /^Error: Expected 1 delivered check\.created; dlv_\w{26} failed at attempt 7: The receiver returned 500\. Only 2xx counts as delivered\. No further attempt follows\.\n$/,
    )
    await own.stop()
  })

  test.runIf(isSoak)(
    '--status exits with 3 when a delivery has another status, and names that status',
    async () => {
      await refused('undead')
      const pending = ['--check', 'undead', '--status', 'pending', '--timeout', '0']
      expect((await wait(...pending)).code).toBe(0)
      const { code, stderr } = await wait('--check', 'dinner', '--status', 'dead', '--timeout', '0')
      expect(code).toBe(3)
      expect(stderr).toMatch(
        /^Error: Expected 1 dead delivery for check dinner; dlv_\w{26} is delivered\.\n$/,
      )
    },
  )

  test('--exactly exits with 3 at the first delivery too many, and with 0 for the exact number', async () => {
    const running = await waiting('--check', 'twice', '--exactly', '--json')
    await push('twice')
    await push('twice', { table: { number: '13' } })
    const { code, stdout } = await running.ended
    expect(code).toBe(3)
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'too_often' } })
    const people = await wait('--check', 'twice', '--exactly', '--timeout', '0')
    expect(people.stderr).toMatch(
      /^Error: Expected exactly 1 successful delivery for check twice, found 2: dlv_\w+, dlv_\w+\.\n$/,
    )
    expect((await wait('--check', 'twice', '--exactly', '--count', '2', '--timeout', '0')).code).toBe(0)
  })

  test('--none exits with 3 as soon as a delivery arrives, and with 0 when none does', async () => {
    const running = await waiting('--check', 'unwanted', '--none')
    expect(await wait('--check', 'unwanted', '--none', '--timeout', '0')).toEqual({
      code: 0,
      signal: null,
      stdout: '✓ No delivery arrived.\n',
      stderr: '',
    })
    await push('unwanted')
    const { code, stderr } = await running.ended
    expect(code).toBe(3)
    expect(stderr).toMatch(/\nError: Expected no deliveries for check unwanted, found dlv_\w{26}\.\n$/)
    expect((await wait('--none', '--exactly')).code).toBe(2)
    expect((await wait('--none', '--count', '5')).code).toBe(2)
  })

  test.runIf(isSoak)('ignores pings without --type ping', async () => {
    const own = await serve({ allowHttpLoopback: true })
    const endpoint = await register(own, good.url, ['check.created'])
    await own.json('ping', endpoint)
    const args = ['deliveries', 'wait', '--timeout', '0']
    expect((await own.run(args)).code).toBe(3)
    expect((await own.run([...args, '--type', 'ping'])).code).toBe(0)
    await own.stop()
  })

  test.skipIf(process.platform === 'win32')(
    'exits with 1 when the service stops meanwhile, and with 130 on Ctrl-C',
    async () => {
      const own = await serve()
      const args = ['deliveries', 'wait', '--timeout', '600']
      const [left, interrupted] = await Promise.all([
        spawnTabwire(args, { cwd: own.cwd }),
        spawnTabwire(args, { cwd: own.cwd }),
      ])
      await Promise.all([left.until('stderr', /Waiting/), interrupted.until('stderr', /Waiting/)])
      interrupted.child.kill('SIGINT')
      expect(await interrupted.ended).toMatchObject({ code: 130 })
      await own.stop()
      expect(await left.ended).toMatchObject({ code: 1, stdout: '' })
      expect((await left.ended).stderr).toContain(
        'Error: The service stopped during the wait for deliveries.',
      )
    },
  )
})

describe('waiting for deliveries', () => {
  const wanted: Wanted = { status: 'delivered', count: 1, exactly: false, none: false }

  async function open(options = {}) {
    const simulator = await openSimulator(options)
    const receiver = await openReceiver()
    const event_types = ['check.created' as const]
    const { id } = await simulator.client.endpoints.create({ url: receiver.url, event_types })
    const happen = async () => {
      await simulator.push('dinner')
      await simulator.idle()
    }
    return { ...simulator, receiver, endpoint: id, happen }
  }

  test.each(['before', 'after'])(
    'misses no delivery that arrives after the stream opens and %s the list is read',
    async (when) => {
      const { client, happen } = await open()
      let looks = 0
      const list: typeof client.deliveries.list = async (query) => {
        looks++
        if (when === 'before') await happen()
        const page = await client.deliveries.list(query)
        if (when === 'after') await happen()
        return page
      }
      const deliveries = { ...client.deliveries, list }
      const never = new AbortController().signal
      const verdict = await waitForDeliveries({ ...client, deliveries }, wanted, never)
      expect(verdict).toEqual({ ok: true, deliveries: (await client.deliveries.list()).data })
      expect(looks).toBe(1)
    },
  )

  test('reads every page of the list', async () => {
    const { client, push, idle } = await open()
    for (let n = 0; n < 101; n++) await push(`check-${n}`)
    await idle()
    const all = { ...wanted, check: 'check-0', exactly: true }
    expect(await waitForDeliveries(client, all, AbortSignal.abort())).toMatchObject({ ok: true })
    const verdict = await waitForDeliveries(client, { ...wanted, count: 101 }, AbortSignal.abort())
    expect(verdict.ok && verdict.deliveries.length).toBe(101)
  })

  test('reports pending deliveries before their first attempt', async () => {
    const { client, receiver, push } = await open()
    receiver.answer('hang')
    const never = new AbortController().signal
    const verdict = await waitForDeliveries(
      client,
      { ...wanted, status: 'pending' },
      never,
      () => void push('dinner'),
    )
    expect(verdict).toMatchObject({ ok: true, deliveries: [{ status: 'pending', attempts: [] }] })
  })

  test('reports a delivery at once when it dies because its endpoint is deleted', async () => {
    const { client, endpoint, push } = await open()
    await client.faults.set({ faults: [{ on: 'deliveries', delay: 1 }] })
    const never = new AbortController().signal
    const dead = { ...wanted, status: 'dead' as const }
    await push('dinner')
    const verdict = await waitForDeliveries(client, dead, never, () => void client.endpoints.delete(endpoint))
    expect(verdict).toMatchObject({ ok: true, deliveries: [{ status: 'dead', attempts: [] }] })
  })

  test('does not count deliveries of a state that was replaced', async () => {
    const { client, push, happen } = await open()
    const empty = JSON.stringify(await client.state.get())
    await happen()
    const never = new AbortController().signal
    const two = { ...wanted, count: 2 }
    const seen: unknown[] = []
    const verdict = waitForDeliveries(client, two, never, () => {
      void client.state.put(empty).then(async (report) => {
        seen.push(report.records.deliveries)
        for (const name of ['lunch', 'supper']) await push(name)
      })
    })
    const met = await verdict
    const names = met.ok ? met.deliveries.map(({ external_check_id }) => external_check_id) : met
    expect(names).toEqual(expect.arrayContaining(['lunch', 'supper']))
    expect(names).toHaveLength(2)
    expect(seen).toEqual([0])
  })

  test('with --exactly or --none succeeds at the deadline', async () => {
    const { client, happen } = await open()
    await happen()
    for (const narrower of [{ exactly: true }, { none: true, check: 'lunch' }]) {
      const deadline = new AbortController()
      const over = () => deadline.abort()
      const verdict = await waitForDeliveries(client, { ...wanted, ...narrower }, deadline.signal, over)
      expect(verdict.ok).toBe(true)
    }
  })
})
