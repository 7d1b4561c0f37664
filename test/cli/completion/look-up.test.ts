import { expect, test } from 'vitest'
import type { Client } from '../../../src/client.ts'
import { lookUp } from '../../../src/cli/completion/look-up.ts'
import { createSimulator } from '../../../src/index.ts'
import { checkBody } from '../../support/cli.ts'

const AGES = 60_000

const places = (connect: () => Promise<unknown>) => ({
  connect: connect as () => Promise<Client>,
  dataDirectory: 'nowhere',
})

test('finds what the service knows, but nothing that a shell would take for more than a word', async () => {
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

test('waits for no service that takes its time, and for none that is not there', async () => {
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
