import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createSimulator, type Simulator, type SimulatorOptions } from '../../src/index.ts'
import { timers } from '../../src/timers.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { check, exchange, openReceiver, temporaryDirectory, testAuthority } from '../support/simulator.ts'

const TIME = '2026-01-01T00:00:00.000Z'

async function made(options: SimulatorOptions): Promise<Simulator> {
  const simulator = await createSimulator({ port: false, ...options })
  onTestFinished(() => simulator.close())
  return simulator
}

/** Values that JavaScript can pass against the types. */
const refusal = (options: object) =>
  createSimulator(options).then(
    async (simulator) => {
      await simulator.close()
      return 'accepted'
    },
    (error: unknown) => (error instanceof TypeError ? error.message : error),
  )

describe('options', () => {
  test.each<[object, string]>([
    ['port' as unknown as object, 'options must be an object, got "port".'],
    [[], 'options must be an object, got [].'],
    [null as unknown as object, 'options must be an object, got null.'],
    [
      () => {},
      'options must be an object, got a function. Pass `() => simulator.close()` to a test runner, for example.',
    ],
    [{ prot: 1 }, 'unknown option "prot", did you mean "port"?'],
    [{ data_dir: 'x' }, 'unknown option "data_dir", did you mean "dataDir"?'],
    [{ port: '80' }, 'port must be a whole number from 0 to 65535, or false, got "80".'],
    [{ port: 65_536 }, 'port must be a whole number from 0 to 65535, or false, got 65536.'],
    [{ seed: 1.5 }, 'seed must be a whole number of at least 0, got 1.5.'],
    [
      { connectionLimits: { conections: 2 } },
      'connectionLimits must be an object with any of firstRequestMs, headersMs, requestMs, connections, and no other, got {"conections":2}.',
    ],
    [
      { connectionLimits: { connections: -1 } },
      'connectionLimits must be an object whose connections is a whole number from 1 to 2,147,483,647, got -1.',
    ],
    [
      { deliveryTimes: { pollMs: NaN } },
      'deliveryTimes must be an object whose pollMs is a whole number from 1 to 2,147,483,647, got NaN.',
    ],
    [
      { rateLimit: { requests: 1, seconds: 2_592_000 } },
      'rateLimit must be a rate over at most 24 days, got {"requests":1,"seconds":2592000}.',
    ],
    [{ keepEvents: 0 }, 'keepEvents must be a whole number of at least 1, got 0.'],
    [{ strict: 'yes' }, 'strict must be true or false, got "yes".'],
    [{ host: '' }, 'host must be an address such as 127.0.0.1, got "".'],
    [{ apiKey: 'my key' }, 'apiKey must be 1 to 512 visible ASCII characters without spaces.'],
    [
      { serviceName: 'A B' },
      'serviceName must be 1 to 64 letters, digits and hyphens, without a hyphen at either end, got "A B".',
    ],
    [
      { rateLimit: 'fast' },
      'rateLimit must be a rate of at least 1 request, such as 10/s, 600/m or 5000/h, got "fast".',
    ],
    [
      { rateLimit: { requests: 0, seconds: 1 } },
      'rateLimit must be a rate of at least 1 request, such as 10/s, 600/m or 5000/h, got {"requests":0,"seconds":1}.',
    ],
    [
      { clock: '2026-11-21T18:00:00' },
      'clock must end with Z or an offset such as +01:00, because local times depend on the machine, got "2026-11-21T18:00:00". Example: 2026-11-21T18:00:00Z.',
    ],
    [{ clock: 'noon' }, 'clock must be a time from 1970 to 9998, such as 2026-11-21T18:00:00Z, got "noon".'],
    [
      { clock: new Date(NaN) },
      'clock must be a time from 1970 to 9998, such as 2026-11-21T18:00:00Z, got an invalid Date.',
    ],
    [{ clock: -1 }, 'clock must be a time from 1970 to 9998, such as 2026-11-21T18:00:00Z, got -1.'],
    [
      { orderBy: 'items' },
      'orderBy must be the name of a field that orders pushes, such as updated_at, got "items": items is a field of a check with another meaning.',
    ],
    [{ signTime: 'never' }, 'signTime must be "real" or "virtual", got "never".'],
    [
      { publicUrl: 'pos.example' },
      'publicUrl must be a URL without a path, such as https://sandbox.example.com, got "pos.example".',
    ],
    [
      { store: 'postgres://a@b/c', sandbox: 'pg_test' },
      'sandbox must be another name: PostgreSQL reserves information_schema, and names that begin with pg_, got "pg_test".',
    ],
    [{ ca: ['nowhere.pem'] }, 'ca must be a PEM text or the path of a PEM file, got "nowhere.pem" (ENOENT).'],
    [
      { allowedHost: [1] },
      'allowedHost must be a text or a list of texts, each of at least 1 character, got [1].',
    ],
    [{ onError: true }, 'onError must be a function, got true.'],
    [{ clock: TIME, startAt: new Date(0) }, 'clock and startAt are the same option. Omit startAt.'],
    [{ https: true, port: false }, 'https needs a port, got port: false.'],
    [{ ref: true, port: false }, 'ref needs a port, got port: false.'],
    [
      { prot: 1, strict: 1 },
      'unknown option "prot", did you mean "port"?\nstrict must be true or false, got 1.',
    ],
  ])('%j are refused', async (options, message) => {
    expect(await refusal(options)).toBe(message)
  })

  test('https without a directory is refused, and no timer is left', async () => {
    const started = vi.spyOn(timers, 'setInterval')
    onTestFinished(() => started.mockRestore())
    expect(await refusal({ https: true, port: 0 })).toBe(
      'https needs dataDir or authorityDirectory, for the local certificate authority.',
    )
    expect(started).not.toHaveBeenCalled()
  })

  test('an authority that is not a certificate is refused, and no timer is left', async () => {
    const started = vi.spyOn(timers, 'setInterval')
    onTestFinished(() => started.mockRestore())
    const file = join(await temporaryDirectory(), 'authority.pem')
    const pem = '-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----'
    await writeFile(file, pem)
    for (const cacert of [file, pem])
      expect(await refusal({ cacert })).toBe(
        `cacert must be a PEM text or the path of a PEM file, got ${JSON.stringify(cacert)} (not a certificate).`,
      )
    expect(started).not.toHaveBeenCalled()
  })

  test('an unknown name that is similar to no option is refused with all names', async () => {
    expect(await refusal({ colour: 'red' })).toMatch(
      /^unknown option "colour"\. Known options: dataDir, .*onError\.$/,
    )
  })

  test.each<[string, SimulatorOptions]>([
    ['text', { clock: TIME }],
    ['milliseconds', { clock: Date.parse(TIME) }],
    ['a Date', { clock: new Date(TIME) }],
    ['a Date under its earlier name', { startAt: new Date(TIME) }],
  ])('the clock starts at a time that is given as %s', async (_form, options) => {
    const simulator = await made({ seed: 1, ...options })
    expect(await simulator.clock.show()).toMatchObject({ now: TIME, frozen: true })
  })

  test('the clock can be an object of your own, and /_sim/clock is then 404', async () => {
    const simulator = await made({ clock: createManualClock() })
    await expect(simulator.clock.show()).rejects.toMatchObject({ status: 404 })
  })

  test('a callback that throws changes no response: onError gets its error', async () => {
    const mistake = new Error('The callback has a mistake.')
    const reported: unknown[] = []
    const { url, apiKey, fetch } = await made({
      port: 0,
      onRequest() {
        throw mistake
      },
      onError: (error, requestId) => reported.push([error, requestId]),
    })
    const headers = { authorization: `Bearer ${apiKey}` }
    const answers = [await fetch('/v1/locations', { headers }), await globalThis.fetch(`${url}/nowhere`)]
    expect(answers.map(({ status }) => status)).toEqual([200, 404])
    const refused = await exchange(Number(new URL(url).port), ['no HTTP\r\n\r\n'])
    expect(refused.status).toBe(400)
    const ids = [...answers, refused].map((answer) => answer.headers.get('x-request-id'))
    expect(reported).toEqual(ids.map((id) => [mistake, id]))
  })

  test('a reset waits for onReplace, which sees the state before it', async () => {
    const seen: number[] = []
    const mistake = new Error('The callback has a mistake.')
    const reported: unknown[] = []
    const simulator: Simulator = await made({
      async onReplace() {
        seen.push((await simulator.checks.list()).data.length)
        throw mistake
      },
      onError: (error) => reported.push(error),
    })
    await simulator.checks.push('table-12', check())
    await simulator.reset()
    await simulator.reset()
    expect(seen).toEqual([1, 0])
    expect(reported).toEqual([mistake, mistake])
  })

  test('a mistake in onError becomes a process warning', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue()
    onTestFinished(() => warned.mockRestore())
    const mistake = new Error('The callback has a mistake.')
    const fail = () => {
      throw mistake
    }
    const { fetch } = await made({ onRequest: fail, onError: fail })
    expect((await fetch('/_sim/health')).status).toBe(200)
    expect(warned).toHaveBeenCalledWith(mistake)
  })

  test('async callbacks reject without an unhandled rejection, like callbacks that throw', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue()
    onTestFinished(() => warned.mockRestore())
    const [inRequest, inError] = [new Error('onRequest has a mistake.'), new Error('onError has a mistake.')]
    const onError = vi.fn(() => Promise.reject(inError))
    const { fetch } = await made({ onRequest: () => Promise.reject(inRequest), onError })
    const answer = await fetch('/v1/locations')
    await expect.poll(() => warned).toHaveBeenCalledWith(inError)
    expect(onError.mock.calls).toEqual([[inRequest, answer.headers.get('x-request-id')]])
  })

  test('undefined options have their defaults', async () => {
    const noDefaults = {
      port: undefined,
      onError: undefined,
      ref: undefined,
    }
    const simulators = [await createSimulator(noDefaults), await createSimulator(noDefaults)]
    for (const { url, close } of simulators) {
      expect(new URL(url).port).not.toBe('4100')
      await close()
    }
  })

  test.each([['1/h'], [{ requests: 1, seconds: 3600 }]])('the rate limit can be %j', async (rateLimit) => {
    const simulator = await made({ rateLimit })
    await simulator.checks.list()
    await expect(simulator.checks.list()).rejects.toMatchObject({ code: 'rate_limited' })
  })

  test.each(['dataDir', 'dataDirectory'])('%s keeps the records', async (name) => {
    const directory = await temporaryDirectory()
    const first = await createSimulator({ [name]: directory, port: false })
    await first.checks.push('kept', check())
    await first.close()
    expect(await (await made({ [name]: directory })).checks.get('kept')).toMatchObject({
      external_id: 'kept',
    })
  })

  test('authorities can be PEM files or PEM texts', async () => {
    const { certificatePem } = await testAuthority()
    const file = join(await temporaryDirectory(), 'authority.pem')
    await writeFile(file, certificatePem)
    for (const options of [{ cacert: file }, { cacert: [certificatePem] }, { ca: [certificatePem] }]) {
      const receiver = await openReceiver()
      const simulator = await made(options)
      await simulator.endpoints.create({ url: receiver.url })
      await simulator.checks.push('over-tls', check())
      await simulator.deliveries.waitFor({ type: 'check.created' })
      expect(receiver.requests).toHaveLength(1)
    }
    expect(await refusal({ cacert: `${file}.gone` })).toBe(
      `cacert must be a PEM text or the path of a PEM file, got ${JSON.stringify(`${file}.gone`)} (ENOENT).`,
    )
  })

  test('publicUrl is the beginning of table addresses, and its host is allowed', async () => {
    const { url, tables } = await made({ port: 0, publicUrl: 'https://pos.example:8443/' })
    const address = new URL((await tables.address('12')).url)
    expect(address.origin).toBe('https://pos.example:8443')
    const { request } = await import('undici')
    const answer = await request(url + address.pathname, { headers: { host: address.host } })
    await answer.body.dump()
    expect(answer.statusCode).toBe(200)
  })

  test.each(['allowedHost', 'allowedHosts'])('%s adds allowed hosts', async (name) => {
    const { url } = await made({ port: 0, [name]: ['tabwire.test'] })
    const { request } = await import('undici')
    const answer = await request(`${url}/_sim/health`, { headers: { host: 'tabwire.test' } })
    await answer.body.dump()
    expect(answer.statusCode).toBe(200)
  })
})
