import { sampled } from '../soak/seeded.ts'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ClockReport, ClockView, List } from '../../src/client.ts'
import type { Delivery } from '../../src/model/delivery.ts'
import type { State } from '../../src/model/simulator/state.ts'
import { stateText } from '../../src/model/simulator/record-lines.ts'
import {
  checkBody,
  emptyDirectory,
  serve,
  startService,
  tabwire,
  type RunningService,
} from '../support/cli.ts'
import { openHttpServer } from '../support/http-server.ts'
import { startReceiver, type Receiver } from '../support/https-receiver.ts'
import { expectMode } from '../support/file-mode.ts'

let receiver: Receiver
beforeAll(async () => void (receiver = await startReceiver({ answer: 500 })))
afterAll(() => receiver.close())

const startAt = '2026-11-21T18:00:00Z'
const inMemory = () => serve({ allowHttpLoopback: true, startAt: new Date(startAt) })
const onDisk = () => startService(['--allow-http-loopback', '--clock', startAt])
const minutes = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 60_000

/** A service with a delivery that has failed three times, and waits for its third retry. */
async function atThirdRetry<S extends RunningService>(start: () => Promise<S>): Promise<S> {
  const service = await start()
  await service.call('POST', '/_sim/clock', { freeze: true })
  const { url } = receiver
  await service.call('POST', '/v1/webhook-endpoints', { url, event_types: ['check.created'] })
  await service.call('PUT', '/v1/checks/external/a', checkBody())
  await service.call('POST', '/_sim/clock', { advance: '6m' })
  return service
}

async function expectRemainingRetries(service: RunningService) {
  const [pending] = (await service.json<List<Delivery>>('deliveries', 'list')).data
  expect(pending).toMatchObject({ status: 'pending', attempts: [{}, {}, { number: 3 }] })
  const { attempted } = await service.json<ClockReport>('clock', 'advance', '35h')
  const first = pending?.attempts[0]?.started_at ?? ''
  expect(attempted.map(({ attempt, at, status }) => [attempt, minutes(first, at), status])).toEqual([
    [4, 36, 'pending'],
    [5, 2 * 60 + 36, 'pending'],
    [6, 10 * 60 + 36, 'pending'],
    [7, 34 * 60 + 36, 'dead'],
  ])
}

// Side by side: each runs a dozen commands, which take up to a second on a busy machine.
const concurrently = { concurrent: true }

describe('a state saved at the third retry', concurrently, () => {
  test('continues in memory with attempts four to seven at their times, after a reset and a load', async () => {
    const service = await atThirdRetry(inMemory)
    await service.json('state', 'save', 'third-retry')
    await service.call('POST', '/_sim/clock', { advance: '3h' })
    const reset = await service.json('state', 'reset')
    expect(reset).toMatchObject({ records: { checks: 0, endpoints: 0, deliveries: 0 }, pending: 0 })
    expect(await service.json('deliveries', 'list')).toEqual({ data: [], next_cursor: null })
    expect(await service.json('state', 'load', 'third-retry')).toMatchObject({ pending: 1 })
    await expectRemainingRetries(service)
    await service.json('state', 'load', 'third-retry')
    await expectRemainingRetries(service)
    await service.stop()
  })

  test.each(sampled(['SIGKILL', 'SIGTERM'] as const, 2))(
    'continues on disk with the same attempts, also after %s and a restart',
    async (signal) => {
      const service = await atThirdRetry(onDisk)
      const { cwd } = service
      const before = (await (await service.call('GET', '/_sim/clock')).json()) as ClockView
      await service.json('state', 'save', 'third-retry')
      await service.json('state', 'reset')
      await service.stop(signal)
      const second = await startService(['--allow-http-loopback'], { cwd })
      expect(await second.json('deliveries', 'list')).toEqual({ data: [], next_cursor: null })
      expect(await second.json('state', 'load', 'third-retry')).toMatchObject({
        clock: { now: before.now, frozen: true },
      })
      await second.stop(signal)
      const third = await startService(['--allow-http-loopback'], { cwd })
      await expectRemainingRetries(third)
      await third.stop()
    },
  )
})

describe('tabwire state', concurrently, () => {
  test('save replaces a state with --file, but no other file, and load accepts a byte-order mark', async () => {
    const service = await serve()
    const file = join(service.cwd, 'kept.json')
    for (const _ of [1, 2]) expect((await service.run(['state', 'save', '--file', file])).code).toBe(0)
    await writeFile(file, `\ufeff${await readFile(file, 'utf8')}`)
    expect((await service.run(['state', 'load', '--file', file])).code).toBe(0)
    const source = join(service.cwd, 'app.js')
    await writeFile(source, 'console.log(1)\n')
    for (const args of [
      ['state', 'save', '--file', source],
      ['report', '--bundle', source],
    ]) {
      const { code, stderr } = await service.run(args)
      expect(code).toBe(1)
      expect(stderr).toMatch(
        /^Error: .*app\.js exists and is not a (saved state|bundle), so it is not replaced\./,
      )
    }
    expect(await readFile(source, 'utf8')).toBe('console.log(1)\n')
    // Both have a clock, too.
    const bundle = join(service.cwd, 'bundle.json')
    expect((await service.run(['report', '--bundle', bundle])).code).toBe(0)
    const settings = join(service.cwd, 'settings.json')
    await writeFile(settings, '{"$schema":"x","clock":"2026-01-01T00:00:00Z","port":0}')
    for (const file of [bundle, settings]) {
      const before = await readFile(file, 'utf8')
      expect((await service.run(['state', 'save', '--file', file])).stderr).toContain(
        'exists and is not a saved state, so it is not replaced.',
      )
      expect(await readFile(file, 'utf8')).toBe(before)
    }
    await service.stop()
  })

  test('save writes a file that only its owner can read, and says when it replaced one', async () => {
    const service = await atThirdRetry(inMemory)
    const first = await service.run(['state', 'save', 'one'])
    const file = join('.tabwire', 'states', 'one.json')
    expect(first).toMatchObject({ code: 0, stderr: `Saved to ${file}. The file contains signing secrets.\n` })
    expect(first.stdout).toMatch(/^clock {7}2026-11-21 18:06:\d\d UTC, frozen\nlocations {3}2\nchecks {6}1\n/)
    expect(first.stdout).toContain('\ndeliveries  1, 1 pending\n')
    const path = join(service.cwd, file)
    await expectMode(path, 0o600)
    const text = await readFile(path, 'utf8')
    const state = JSON.parse(text) as State
    expect(text).toBe([...stateText(state)].join(''))
    expect(state).not.toHaveProperty('keys')
    const again = await service.json('state', 'save', 'one')
    expect(again).toMatchObject({ name: 'one', file, replaced: true, pending: 1 })
    expect((await service.run(['state', 'save', 'one'])).stderr).toContain('replacing the previous state')
    await service.stop()
  })

  test('save and load accept a file or - instead of a name', async () => {
    const service = await atThirdRetry(inMemory)
    const { stdout } = await service.run(['state', 'save', '--file', '-'])
    await service.json('state', 'save', '--file', 'fixture.json')
    expect(await readFile(join(service.cwd, 'fixture.json'), 'utf8')).toBe(stdout)
    await service.json('state', 'reset')
    expect((await service.run(['state', 'load', '--file', '-'], { input: stdout })).code).toBe(0)
    expect((await service.run(['state', 'save', '--file', '-'])).stdout).toBe(stdout)
    await service.stop()
  })

  test.each(['kept.json', '-'])('save to %s fails when the response is not a whole state', async (file) => {
    const cwd = await emptyDirectory()
    const { url } = await openHttpServer((_, response) => response.end('{"checks":[]}'))
    const env = { TABWIRE_URL: url, TABWIRE_API_KEY: 'k' }
    const saved = await tabwire(['state', 'save', '--file', file], { cwd, env })
    expect(saved).toMatchObject({ code: 1, stdout: file === '-' ? '{"checks":[]}' : '' })
    expect(saved.stderr).toMatch(/^Error: The service sent an incomplete state, which is not saved\./)
    expect(await readdir(cwd)).toEqual([])
  })

  test('load names the file and the error of a damaged state, and changes nothing', async () => {
    const service = await atThirdRetry(inMemory)
    const before = (await service.run(['state', 'save', '--file', '-'])).stdout
    await writeFile(
      join(service.cwd, 'bad.json'),
      before.replace(/"we_\w+"/, '"we_1"').replace('true', '"true"'),
    )
    const bad = await service.run(['state', 'load', '--file', 'bad.json'])
    expect(bad).toMatchObject({ code: 1, stdout: '' })
    expect(bad.stderr).toMatch(
      /^bad\.json was not loaded\. Nothing was changed:\nError: 422 validation_failed: the body is not valid\.\n {2}clock\.frozen must be a boolean, got a string\n {2}endpoints\[0\]\.id must be an identifier/,
    )
    const torn = await service.run(['state', 'load', '--file', '-'], { input: before.slice(0, -10) })
    expect(torn.stderr).toMatch(
      /^Standard input was not loaded.*\nError: 400 invalid_json: The body is not valid JSON/,
    )
    expect((await service.run(['state', 'save', '--file', '-'])).stdout).toBe(before)
    await service.stop()
  })

  test('load lists the saved states for an unknown name', async () => {
    const cwd = await emptyDirectory()
    const none = await tabwire(['state', 'load', 'nope'], { cwd })
    expect(none).toMatchObject({ code: 2, stdout: '' })
    expect(none.stderr).toMatch(
      /^Error: No saved state "nope" \(.*nope\.json\)\. No states are saved yet\.\n$/,
    )
    await mkdir(join(cwd, '.tabwire', 'states'), { recursive: true, mode: 0o700 })
    await writeFile(join(cwd, '.tabwire', 'states', 'third-retry.json'), '{}')
    const typo = await tabwire(['state', 'load', 'third-rety'], { cwd })
    expect(typo.stderr).toContain('Did you mean third-retry? Saved states: third-retry.\n')
  })

  test('list reads the data directory of the settings file', async () => {
    const cwd = await emptyDirectory()
    await mkdir(join(cwd, 'kept', 'states'), { recursive: true, mode: 0o700 })
    await writeFile(join(cwd, 'kept', 'states', 'lunch.json'), '{}')
    await writeFile(join(cwd, 'settings.json'), '{"data_dir":"kept"}')
    const listed = await tabwire(['state', 'list', '--config', 'settings.json'], { cwd })
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining('lunch') as string })
  })

  test('list shows saved states without a service, and names invalid files', async () => {
    const service = await atThirdRetry(inMemory)
    const { cwd } = service
    expect((await service.run(['state', 'list'])).stdout).toContain('No states yet.')
    await service.json('state', 'save', 'third')
    await service.stop()
    await writeFile(join(cwd, '.tabwire', 'states', 'junk.json'), '{')
    const { stdout } = await tabwire(['state', 'list'], { cwd })
    expect(stdout).toMatch(/^STATE {2}SAVED \(UTC\) +CLOCK +CHECKS {2}DELIVERIES\njunk .* invalid file\n/)
    expect(stdout).toMatch(/\nthird .* 2026-11-21 18:06:\d\d UTC, frozen {2}1 {7}1 \(1 pending\)\n$/)
    const { data } = JSON.parse((await tabwire(['state', 'list', '--json'], { cwd })).stdout) as {
      data: object[]
    }
    expect(data).toMatchObject([{ name: 'junk' }, { name: 'third', pending: 1 }])
  })

  test.each([
    [['save', '../x'], /NAME must be up to 64 .* got "\.\.\/x"\. For a path, use --file\./],
    [['save', '.hidden'], /NAME must be up to 64/],
    [['save', 'a/b'], /NAME must be up to 64/],
    [['save', 'nul.txt'], /NAME must not be the name of a device on Windows, got "nul\.txt"\./],
    [['save', 'x'.repeat(65)], /NAME must be up to 64/],
    [['load', ''], /NAME must be up to 64/],
    [['save'], /Pass the name of a state, or --file FILE/],
    [['load', 'a', '--file', 'b'], /Pass the name of a state, or --file FILE/],
  ])('%j exits with 2', async (args, pattern) => {
    const { code, stderr } = await tabwire(['state', ...args])
    expect(code).toBe(2)
    expect(stderr).toMatch(pattern)
  })
})
