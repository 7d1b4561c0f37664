import { expect, test } from 'vitest'
import { contractCases } from '../../src/conformance/contract/run.ts'
import { examine, named } from '../conformance/contract/examine.ts'
import { isSoak } from './seeded.ts'

const cases = contractCases.filter(({ id }) => id === 'slow_answer')

test.skipIf(!isSoak).concurrent.for<[string, number, string[]]>([
  ['waits ten seconds', 10_000, []],
  ['waits five seconds', 5_000, ['retries/slow_answer']],
  ['waits a minute', 60_000, ['retries/slow_answer']],
])('contract check reports a service that %s for a response', async ([, answerMs, failed], context) => {
  const report = await examine({ changes: { answerMs }, settings: { cases, slow: true } }, context)
  expect(named(report, 'failed')).toEqual(failed)
  expect(report.cases.map(({ verdict, detail }) => (verdict === 'not_checked' ? detail : null))).toEqual([
    null,
  ])
})
