import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Config } from '@oclif/core'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { lookUp, suggest } from '../../../src/cli/completion/complete.ts'
import type { Client } from '../../../src/client.ts'
import { createSimulator } from '../../../src/index.ts'
import { eventTypes } from '../../../src/model/event.ts'
import { checkBody, emptyDirectory } from '../../support/cli.ts'

let config: Config
beforeAll(async () => {
  config = await Config.load({ root: fileURLToPath(new URL('../../..', import.meta.url)) })
})

/** Returns the completions of a line at `|`, the cursor. */
function at(line: string) {
  const words = line.slice(0, line.indexOf('|')).split(' ')
  const { typed, suggestions, kind, given } = suggest(config, words)
  return {
    typed,
    kind,
    given,
    values: suggestions.map(({ value }) => value).filter((value) => value.startsWith(typed)),
  }
}

describe('commands and topics', () => {
  test.each([
    ['de|', ['deliveries', 'demo']],
    ['deliveries |', ['export', 'list', 'resend', 'show', 'wait']],
    ['deliveries w|', ['wait']],
    ['help clock |', ['advance', 'freeze', 'show']],
    ['help |', expect.arrayContaining(['push', 'clock'])],
    ['nonsense |', []],
    ['complete|', []],
  ])('%s', (line, values) => {
    expect(at(line).values.filter((value) => value !== 'completion')).toEqual(values)
  })

  test('are suggested with the first line of their description', () => {
    const { suggestions } = suggest(config, [''])
    expect(suggestions.find(({ value }) => value === 'clock')?.description).toBe(
      'Show, advance or freeze the service clock.',
    )
    expect(suggestions.filter(({ description }) => description === '' || description.includes('\n'))).toEqual(
      [],
    )
  })
})

describe('flags', () => {
  test.each([
    ['push --re|', ['--repeat']],
    ['push --repeat 2 --re|', []],
    ['push --repeat=2 --re|', []],
    ['endpoints create https://x --ev|', ['--events']],
    ['endpoints create --events a --ev|', ['--events']],
    ['start --dotenv x --dot|', []],
    ['push -- --re|', []],
    ['locations -- |', []],
    ['exec -- npm |', []],
    ['checks show x --re|', []],
    ['locations --ur|', ['--url']],
    ['listen -H x --add|', ['--add-header']],
  ])('%s', (line, values) => expect(at(line).values).toEqual(values))

  test('are suggested when no argument is missing', () => {
    expect(at('locations |').values).toContain('--url')
    expect(at('ping we_1 |').values).toContain('--url')
    expect(at('ping |').values).toEqual([])
  })
})

describe('values', () => {
  test.each([
    ['trigger |', eventTypes],
    ['deliveries list --status |', ['pending', 'retrying', 'held', 'delivered', 'dead']],
    ['deliveries list --status de|', ['delivered', 'dead']],
    ['deliveries list --status=dea|', ['dead']],
    ['deliveries list --status = dea|', ['dead']],
    ['receiver example p|', ['php', 'python']],
    ['start --port |', []],
  ])('%s', (line, values) => expect(at(line).values).toEqual(values))

  test.each([
    ['push |', 'file'],
    ['push a.json b|', 'file'],
    ['verify --body |', 'file'],
    ['report --bundle |', 'file'],
    ['replay |', 'file'],
    ['exec -- |', 'file'],
    ['exec -- npm |', 'file'],
    ['ping |', 'endpoint'],
    ['tail --endpoint=we|', 'endpoint'],
    ['guests claim |', 'check'],
    ['guests claim table-1 |', undefined],
    ['events show |', 'event'],
    ['state load |', 'state'],
    ['guests claim t --name |', undefined],
    ['scenario run a |', 'scenario'],
    ['clock advance |', undefined],
    ['contract check --only |', 'contract case'],
    ['receiver check http://a --skip=ac|', 'receiver case'],
  ])('%s is completed by %s', (line, kind) => expect(at(line).kind).toBe(kind))

  test.each([
    ['report --fail-on |', ['overpaid', 'check_left_open']],
    ['exec --faults |', ['drop', 'latency']],
  ])('%s is completed by all words that it accepts', (line, words) => {
    expect(at(line).kind).toEqual({ words: expect.arrayContaining(words) as string[] })
  })

  test('of URLs are joined again after bash splits them at colons', () => {
    const { given } = at('ping --url http : //127.0.0.1 : 4200 |')
    expect(given.get('url')).toBe('http://127.0.0.1:4200')
  })
})

const AGES = 60_000

const places = (connect: () => Promise<unknown>) => ({
  connect: connect as () => Promise<Client>,
  dataDirectory: 'nowhere',
  config: undefined,
})

test('a lookup returns ids of the service, but none that a shell would split or expand', async () => {
  await using simulator = await createSimulator({ port: false })
  for (const id of ['table-12', 'table $(touch x)', '-table', 'table`x`', 'tisch-ü'])
    await simulator.checks.push(id, JSON.stringify(checkBody()))
  expect(
    await lookUp(
      'check',
      places(async () => simulator),
      AGES,
    ),
  ).toEqual([
    { value: 'tisch-ü', description: 'table 12, open' },
    { value: 'table-12', description: 'table 12, open' },
  ])
})

test.each([
  ['contract case', 'checks', 'checks/replay'],
  ['receiver case', 'accepts', 'accepts/event_check_created'],
] as const)('a lookup of a %s returns the groups and the cases', async (kind, group, one) => {
  const found = await lookUp(kind, places(Promise.reject.bind(Promise)), AGES)
  expect(found).toContainEqual({ value: group, description: '' })
  expect(found).toContainEqual({ value: one, description: expect.stringMatching(/\w/) as string })
})

test('a lookup of a profile reads the file of --config', async () => {
  const file = join(await emptyDirectory(), 'other.json')
  await writeFile(file, JSON.stringify({ profiles: { staging: { url: 'https://pos.example.com' } } }))
  const found = await lookUp('profile', { ...places(Promise.reject.bind(Promise)), config: file }, AGES)
  expect(found).toEqual([{ value: 'staging', description: '' }])
})

test('a lookup returns nothing when the service is slow or missing', async () => {
  const never = new Promise(() => {})
  expect(
    await lookUp(
      'check',
      places(async () => never),
      1,
    ),
  ).toEqual([])
  const gone = async () => Promise.reject(new Error('Nobody is there.'))
  expect(await lookUp('check', places(gone), AGES)).toEqual([])
})
