import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import type { CaseResult } from '../../../src/conformance/report.ts'
import { renderConformance } from '../../../src/cli/render/results.ts'
import { empty, report } from '../../conformance/report-example.ts'

const text = stripVTControlCharacters(renderConformance(report))

test('each case has a line below its group, and the last line has the totals', () => {
  expect(text).toMatch(
    /^receiver check http:\/\/127\.0\.0\.1:1\/\n✗ Cause: refuses\/wrong: .+\n\naccepts\n {2}✓ plain {2}Title of plain\n/,
  )
  expect(text).toMatch(/\nrefuses\n {2}✗ wrong /)
  expect(text).toMatch(/\n\n1 passed, 1 failed, 1 advised, 1 error, 1 not checked, 1 observed {2}in 1\.2 s$/)
})

test('the failed case that explains the others is named at the top', () => {
  const one = (group: string, id: string, change: object = {}) =>
    ({
      ...report.cases[0],
      group,
      id,
      title: id,
      verdict: 'failed',
      detail: `Seen in ${id}.`,
      reason: id,
      ...change,
    }) as CaseResult
  const topOf = (...cases: CaseResult[]) =>
    stripVTControlCharacters(renderConformance({ ...report, cases })).split('\n\n')[0]
  const head = 'receiver check http://127.0.0.1:1/'
  expect(topOf(one('control', 'genuine_accepted'), one('accepts', 'plain'))).toBe(
    `${head}\n✗ Cause: control/genuine_accepted: Seen in genuine_accepted.`,
  )
  expect(topOf(one('refuses', 'a', { reason: 'same' }), one('refuses', 'b', { reason: 'same' }))).toBe(
    `${head}\n✗ Cause: refuses/a: Seen in a. same`,
  )
  expect(topOf(one('control', 'no_detail', { detail: null }))).toBe(
    `${head}\n✗ Cause: control/no_detail: no_detail`,
  )
  expect(topOf(one('refuses', 'a', { detail: null }))).toBe(`${head}\n✗ Cause: refuses/a: a`)
  expect(topOf(one('refuses', 'a'), one('refuses', 'b'))).toBe(head)
  expect(topOf(one('accepts', 'plain', { verdict: 'passed' }))).toBe(head)
})

test('the target is described below its URL', () => {
  const shown = stripVTControlCharacters(
    renderConformance(empty, 80, [
      ['service', 'profile staging'],
      ['API key', '--api-key-file'],
    ]),
  )
  expect(shown).toMatch(/^.*\n {2}service {2}profile staging\n {2}API key {2}--api-key-file\n\n/)
})

test('text from a receiver cannot control the terminal', () => {
  expect(renderConformance(report)).not.toMatch(/\u0000|\u001b\[2J/)
})

test('a report without cases still has its totals', () => {
  expect(stripVTControlCharacters(renderConformance(empty))).toMatch(/0 passed, 0 failed {2}in 0\.0 s$/)
})

test('equal details of consecutive cases are printed once', () => {
  const one = (id: string, change: object) => ({ ...report.cases[0], id, title: `Title of ${id}`, ...change })
  const silent = { verdict: 'not_checked', detail: 'Not tried.' }
  const refused = { verdict: 'failed', detail: 'It answered 400.', reason: 'What is refused is lost.' }
  const cases = [
    one('first', refused),
    one('second', refused),
    one('third', silent),
    one('fourth', silent),
    one('fifth', silent),
  ] as CaseResult[]
  const shown = stripVTControlCharacters(renderConformance({ ...report, cases, interrupted: true }))
  expect(shown).toContain(`
  ✗ first  Title of first
  ✗ second  Title of second
      It answered 400.
      What is refused is lost.
  - 3 cases, third to fifth
      Not tried.
`)
  expect(shown).toMatch(/\nInterrupted: this report is partial\.$/)
})

test('consecutive cases that differ in verdict, detail or reason are printed each', () => {
  const one = (id: string, verdict: string, detail: string | null, reason = 'Why.') =>
    ({ ...report.cases[0], id, title: `Title of ${id}`, verdict, detail, reason }) as CaseResult
  const cases = [
    one('a', 'failed', 'Seen.'),
    one('b', 'advised', 'Seen.'),
    one('c', 'advised', 'Seen again.'),
    one('d', 'advised', 'Seen again.', 'Another.'),
    one('e', 'not_checked', 'Seen again.', 'Another.'),
    one('f', 'observed', 'Kept.'),
    one('g', 'passed', null),
  ]
  expect(stripVTControlCharacters(renderConformance({ ...report, cases }))).toContain(`
  ✗ a  Title of a
      Seen.
      Why.
  ! b  Title of b
      Seen.
      Why.
  ! c  Title of c
      Seen again.
      Why.
  ! d  Title of d
      Seen again.
      Another.
  - e  Title of e
      Seen again.
  · f  Title of f: Kept.
  ✓ g  Title of g
`)
})
