import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readScenario } from '../../../src/cli/scenario/files.ts'
import { scenarioSchema } from '../../../src/cli/scenario/schema.ts'
import { temporaryDirectory } from '../../support/simulator.ts'

// Written by: npx vitest run test/cli/scenario -u
test('the format of scenarios is published as fixtures/scenario.schema.json', async () => {
  const json = z.toJSONSchema(scenarioSchema, { io: 'input' })
  await expect(
    `${JSON.stringify({ title: 'A scenario for tabwire scenario run', ...json }, null, 2)}\n`,
  ).toMatchFileSnapshot('../../../fixtures/scenario.schema.json')
})

async function reading(content: unknown): Promise<unknown> {
  const file = join(await temporaryDirectory(), 'evening.json')
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  return readScenario(file).catch((error: unknown) =>
    (error as Error).message.replaceAll(file, 'evening.json'),
  )
}
const steps = (...list: unknown[]) => ({ title: 'Dinner', steps: list })
const push = { do: 'push', check: 'table', body: {} }

describe('an invalid scenario file', () => {
  test.each<[string, unknown, string]>([
    ['no JSON', '{', "evening.json: not valid JSON: Expected property name or '}' in JSON at position 1"],
    ['no object', [], 'evening.json: The file must be an object, got an empty array.'],
    ['without steps', { title: 'Dinner' }, 'evening.json: steps is required.'],
    [
      'a name in capitals',
      { title: 'Dinner', Steps: [push] },
      'evening.json: steps is required. Rename Steps: names are in snake_case.',
    ],
    [
      'an unknown kind',
      steps(push, { do: 'dance' }),
      'evening.json: step 2 (dance): do must be one of push, close, ',
    ],
    [
      'a missing field',
      steps({ do: 'claim', check: 'a' }),
      'evening.json: step 1 (claim): items is required.',
    ],
    [
      'an unknown field',
      steps({ ...push, tabel: 1 }),
      'evening.json: step 1 (push): has unknown fields: tabel.',
    ],
    [
      'a name that no step has',
      steps(push, { do: 'release', claim: '$anna.id' }),
      'evening.json: step 2 (release): refers to $anna, but no earlier step has "as": "anna".',
    ],
    [
      'a name that a later step has',
      steps({ do: 'refund', payment: '$paid.id' }, { do: 'pay', check: 'a', as: 'paid' }),
      'evening.json: step 1 (refund): refers to $paid',
    ],
    [
      'a close of what was not pushed',
      steps({ do: 'close', check: 'table' }),
      'evening.json: step 1 (close): closes table, but no earlier step pushes it.',
    ],
    [
      'an event that there is not',
      steps({ do: 'expect', check: 'a', events: ['check.paid'] }),
      'step 1 (expect): events[0]',
    ],
  ])('%s is refused with the step and the reason', async (_what, content, message) => {
    expect(await reading(content)).toContain(message)
  })

  test('is refused with all its mistakes at once', async () => {
    const message = await reading(steps({ do: 'claim', check: 'a' }, { do: 'rate', check: 'a' }))
    expect(message).toBe(
      'evening.json: step 1 (claim): items is required.\nevening.json: step 2 (rate): rating is required.',
    )
  })
})
