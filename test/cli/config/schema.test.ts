import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { settableFlags } from '../../../src/cli/start/flags.ts'
import { closestWord } from '../../../src/model/text/advice.ts'
import { configSchema } from '../../../src/cli/config/schema.ts'
import { settingName } from '../../../src/cli/config/settings.ts'
import Start from '../../../src/commands/start.ts'

const flags = settableFlags(Start.flags)
const schema = configSchema(flags)

describe('the settings of tabwire.config.json', () => {
  // Written by: npx vitest run test/cli/config -u
  test('are published as fixtures/config.schema.json', async () => {
    const json = z.toJSONSchema(schema, { io: 'input' })
    await expect(
      `${JSON.stringify({ title: 'tabwire.config.json', ...json }, null, 2)}\n`,
    ).toMatchFileSnapshot('../../../fixtures/config.schema.json')
  })

  test('are the snake_case flags of start, except --config, --json, --store-key and key files, plus profiles and listen', () => {
    const names = Object.keys(Start.flags).filter(
      (name) => !['config', 'json', 'api-key-file', 'store-key', 'store-key-file'].includes(name),
    )
    expect(Object.keys(schema.shape)).toEqual(['$schema', ...names.map(settingName), 'profiles', 'listen'])
    expect(names.map(settingName)).toEqual(
      expect.arrayContaining(['port', 'data_dir', 'allow_http_loopback']),
    )
  })

  test('have the types of the flags: numbers, switches, choices and lists', () => {
    const right = {
      $schema: './config.schema.json',
      port: 0,
      strict: true,
      sign_time: 'virtual',
      cacert: ['ca.pem'],
      listen: { forward: [{ to: 'localhost:3000', events: ['check.closed'], headers: { 'X-A': 'b' } }] },
    }
    expect(schema.parse(right)).toEqual(right)
    for (const wrong of [{ port: '4100' }, { port: 65_536 }, { strict: 'yes' }, { sign_time: 'moon' }])
      expect(schema.safeParse(wrong).success).toBe(false)
  })
})

test.each([
  ['prot', 'port'],
  ['data-dir', 'data_dir'],
  ['apikey', 'api_key'],
  ['colour', undefined],
])('for %s, the closest word is %s', (word, meant) => {
  expect(closestWord(word, ['port', 'host', 'data_dir', 'api_key'])).toBe(meant)
})
