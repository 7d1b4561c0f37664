import { fileURLToPath } from 'node:url'
import { Config } from '@oclif/core'
import { beforeAll, describe, expect, test } from 'vitest'
import { suggest } from '../../../src/cli/completion/suggest.ts'
import { eventTypes } from '../../../src/model/event.ts'

let config: Config
beforeAll(async () => {
  config = await Config.load({ root: fileURLToPath(new URL('../../..', import.meta.url)) })
})

/** What can be typed at the end of a line, in which `|` stands for the cursor. */
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

  test('come with the first line of what they are', () => {
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
    ['start --dotenv x --env|', []],
    ['push -- --re|', []],
    ['checks show x --re|', []],
    ['locations --ur|', ['--url']],
    ['listen -H x --add|', ['--add-header']],
  ])('%s', (line, values) => expect(at(line).values).toEqual(values))

  test('are offered where nothing else can stand', () => {
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
    ['ping |', 'endpoint'],
    ['tail --endpoint=we|', 'endpoint'],
    ['guests claim |', 'check'],
    ['guests claim table-1 |', undefined],
    ['events show |', 'event'],
    ['state load |', 'state'],
    ['guests claim t --name |', undefined],
    ['scenario run a |', 'scenario'],
    ['clock advance |', undefined],
  ])('%s is completed by %s', (line, kind) => expect(at(line).kind).toBe(kind))

  test('of URLs stay whole, though bash takes them apart', () => {
    const { given } = at('ping --url http : //127.0.0.1 : 4200 |')
    expect(given.get('url')).toBe('http://127.0.0.1:4200')
  })
})
