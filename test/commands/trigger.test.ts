import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { recipes, type Triggered } from '../../src/cli/trigger.ts'
import { createClient } from '../../src/client.ts'
import type { Check } from '../../src/model/check.ts'
import { eventTypes, type Envelope, type EventType } from '../../src/model/event.ts'
import { checkBody, fixtures, type RunningService } from '../support/cli.ts'
import type { Receiver } from '../support/https-receiver.ts'
import { startServiceAndReceiver } from '../support/https-service.ts'

let service: RunningService
let receiver: Receiver
beforeAll(async () => {
  const pair = await startServiceAndReceiver()
  ;({ service, receiver } = pair)
  return () => pair.stop()
})

/** Where the resource of an event is to be read. */
const resources: Record<string, (data: { id: string; external_id: string }) => string> = {
  check: ({ external_id }) => `checks/external/${external_id}`,
  payment: ({ id }) => `payments/${id}`,
  claim: ({ id }) => `claims/${id}`,
  feedback: ({ id }) => `feedback/${id}`,
}

async function delivered(id: string): Promise<string> {
  for (let n = 1; ; n++) {
    const body = (await receiver.received(n))[n - 1]?.body.toString() ?? ''
    if ((JSON.parse(body) as Envelope).id === id) return body
  }
}

describe.each(eventTypes)('tabwire trigger %s', (type) => {
  test('triggers the event, and a receiver on HTTPS gets the exact bytes of the matching GET as data', async () => {
    const { event, steps } = await service.json<Triggered>('trigger', type)
    expect(event.type).toBe(type)
    expect(steps.map(({ step }) => step)).toEqual(recipes[type])
    const body = await delivered(event.id)
    expect(body).toBe(event.body)
    const { data, ...envelope } = JSON.parse(body) as Envelope
    const path = resources[type.split('.', 1)[0] ?? '']?.(data as { id: string; external_id: string })
    const got = await (await service.call('GET', `/v1/${path}`)).text()
    expect(body).toBe(`${JSON.stringify(envelope).slice(0, -1)},"data":${got.trimEnd()}}`)
    // The fixture of the event looks like it.
    const fixture = JSON.parse(readFileSync(join(fixtures, 'events', `${type}.json`), 'utf8')) as Envelope
    expect(Object.keys(fixture)).toEqual(Object.keys({ ...envelope, data }))
    expect(Object.keys(fixture.data as object)).toEqual(Object.keys(data as object))
  })
})

test('a recipe exists for each event of fixtures/events except the ping, and for no other', () => {
  const files = readdirSync(join(fixtures, 'events')).map((file) => file.replace(/\.json$/, ''))
  expect([...Object.keys(recipes), 'ping'].sort()).toEqual(files.sort())
})

test('prints the event although the service then refuses reads, as with an injected fault', async () => {
  const { faults } = createClient({ url: service.url, apiKey: service.key })
  onTestFinished(async () => void (await faults.clear()))
  await faults.set({ faults: [{ on: 'api', error_rate: 1, paths: ['/v1/locations'] }] })
  expect(await service.run(['trigger', 'check.created'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/evt_/) as string,
  })
})

async function pushed(id: string, changes: Record<string, unknown> = {}): Promise<string> {
  await service.call('PUT', `/v1/checks/external/${id}`, checkBody(changes))
  return id
}
const got = async (id: string) =>
  (await (await service.call('GET', `/v1/checks/external/${id}`)).json()) as Check
const run = (...args: string[]) => service.run(['trigger', ...args])

describe('tabwire trigger --check', () => {
  test('runs only the steps that the check needs, and prints them', async () => {
    const check = await pushed('mine', { revision: 4 })
    const { code, stdout, stderr } = await run('check.updated', '--check', check)
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^ {2}change {2}table 12, open, 3 items, total \$43\.52\n✓ check\.updated {2}evt_\w{26} {2}mine\n$/,
    )
    expect(stderr).toMatch(/^Next: tabwire events show evt_\w{26}\n$/)
    expect(await got(check)).toMatchObject({ revision: 5, balance_cents: 4352 })
    const steps = async (type: EventType) =>
      (await service.json<Triggered>('trigger', type, '--check', check)).steps.map(({ step }) => step)
    expect(await steps('payment.succeeded')).toEqual(['pay_part'])
    expect(await steps('payment.refunded')).toEqual(['refund'])
    expect(await steps('check.closed')).toEqual(['close'])
  })

  test.each([
    ['check.created', 1, 'already exists, so it cannot be created again'],
    ['claim.created', 1, 'has no unclaimed item'],
    ['check.closed', 1, 'caused no check.closed: close'],
    ['check.fully_paid', 1, 'has no balance to pay'],
  ])('says why %s cannot be triggered for a check', async (type, code, message) => {
    const nothing = {
      items: [],
      totals: { subtotal_cents: 0, tax_cents: 0, total_cents: 0 },
      status: 'closed',
    }
    const check = await pushed('bare', nothing)
    const before = await got(check)
    const ended = await run(type, '--check', check)
    expect(ended).toMatchObject({ code, stdout: '' })
    expect(ended.stderr).toContain(message)
    expect(await got(check)).toEqual(before)
  })
})

describe('tabwire trigger --override', () => {
  test('changes the pushed check, and later steps build on it', async () => {
    const overrides = ['--override', 'items[0].price_cents=900', '--override', 'table.number=7']
    const { external_check_id } = await service.json<Triggered>('trigger', 'check.closed', ...overrides)
    const check = await got(external_check_id)
    expect(check).toMatchObject({ status: 'closed', table: { number: '7' } })
    expect(check.items[0]?.price_cents).toBe(900)
  })

  test('refuses an unknown field with the list of fields, and changes nothing', async () => {
    const { code, stdout, stderr } = await run(
      'check.created',
      '--check',
      'new',
      '--override',
      'items[0].prize=9',
    )
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/the body has no field items\[0\]\.prize\. Fields: table\.number, status, items/)
    expect((await service.call('GET', '/v1/checks/external/new')).status).toBe(404)
  })

  test('exits with 2 when no step pushes', async () => {
    const check = await pushed('unpushed')
    const { code, stderr } = await run('claim.created', '--check', check, '--override', 'table.number=7')
    expect(code).toBe(2)
    expect(stderr).toContain('--override changes a pushed body')
    expect((await got(check)).items[0]?.claimed_quantity).toBe(0)
  })
})

test.each([
  ['ping', /tabwire ping ENDPOINT/],
  ['check.paid', /must be one of check\.created, .*, feedback\.received/],
])('tabwire trigger %s exits with 2', async (type, message) => {
  const { code, stderr } = await run(type)
  expect(code).toBe(2)
  expect(stderr).toMatch(message)
})
