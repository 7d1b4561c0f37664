import { describe, expect, test } from 'vitest'
import { chosenCases } from '../../../src/cli/conformance/command.ts'
import { stateCheck } from '../../../src/cli/conformance/receiver.ts'

const cases = [
  { group: 'accepts', id: 'plain' },
  { group: 'accepts', id: 'big' },
  { group: 'refuses', id: 'big' },
]
const chosen = (only: string[], skip: string[]) =>
  chosenCases(cases, { only, skip }).map(({ group, id }) => `${group}/${id}`)

describe('--only and --skip', () => {
  test.each<[string[], string[], string[]]>([
    [[], [], ['accepts/plain', 'accepts/big', 'refuses/big']],
    [['accepts'], [], ['accepts/plain', 'accepts/big']],
    [['big'], [], ['accepts/big', 'refuses/big']],
    [['refuses/big'], [], ['refuses/big']],
    [[], ['big'], ['accepts/plain']],
    [['accepts'], ['accepts/big'], ['accepts/plain']],
  ])('only %j and skip %j select %j', (only, skip, left) => expect(chosen(only, skip)).toEqual(left))

  test('refuse a name that is neither a case nor a group', () => {
    expect(() => chosen(['bigg'], [])).toThrow(
      '--only must be a case or group, got "bigg". Groups: accepts, refuses',
    )
    expect(() => chosen([], ['bigg'])).toThrow('bigg')
    expect(() => chosenCases(cases, { only: [], require: ['bigg'] })).toThrow('bigg')
  })

  test('refuse to leave out all cases that --require names', () => {
    expect(chosenCases(cases, { only: ['big'], require: ['refuses', 'accepts'] })).toHaveLength(2)
    expect(() => chosenCases(cases, { only: ['accepts'], require: ['big', 'refuses'] })).toThrow(
      '--require refuses: --only or --skip leaves out every case of that name.',
    )
  })

  test('refuse a selection without cases', () => {
    expect(() => chosen(['accepts'], ['accepts'])).toThrow('leave no case')
  })
})

test('TABWIRE_STATE_IGNORE takes several fields', () => {
  // From the environment, oclif passes them as one text.
  const ignore = 'log,items[].note' as unknown as string[]
  const asked = {
    'state-url': 'https://a.example',
    'state-header': undefined,
    'state-ignore': ignore,
    seed: 1,
  }
  expect(stateCheck(asked, { ca: [], insecure: false })?.ignore).toEqual(['log', 'items[].note'])
})
