import { readFileSync } from 'node:fs'
import { Parser } from 'tap-parser'
import { expect, test } from 'vitest'
import { validateXML } from 'xmllint-wasm'
import { z } from 'zod'
import { formatReport } from '../../src/cli/conformance/command.ts'
import { renderConformance } from '../../src/cli/render/results.ts'
import { isSelected, makeReport, requireChecked, toJUnit, toTap } from '../../src/conformance/report.ts'
import { readJson } from '../findings/situations.ts'
import { fixtures } from '../support/cli.ts'
import { empty, report } from './report-example.ts'

/** An event of the parser, and what it carries. */
type Parsed = [name: string, value: { ok?: boolean; id?: number; skip?: string }]

const xsd = readFileSync(new URL('./junit.xsd', import.meta.url), 'utf8')
const validate = (xml: string) =>
  validateXML({
    xml: { fileName: 'report.xml', contents: xml },
    schema: { fileName: 'junit.xsd', contents: xsd },
  })

test('the JUnit report is valid by its schema, with any text from a receiver', async () => {
  expect((await validate(await toJUnit(report))).errors).toEqual([])
  expect((await validate(await toJUnit(empty))).errors).toEqual([])
})

test('the JUnit schema refuses an invalid report', async () => {
  const xml = (await toJUnit(report)).replaceAll('failures=', 'lapses=')
  expect((await validate(xml)).valid).toBe(false)
})

test('the JUnit report has totals, and each group as a suite', async () => {
  const xml = await toJUnit(report)
  expect(xml).toContain('<testsuites tests="6" failures="1" errors="1" skipped="1">')
  expect(xml.match(/<testsuite name="[^"]*"/g)).toEqual([
    '<testsuite name="receiver check: accepts"',
    '<testsuite name="receiver check: refuses"',
  ])
})

test('a TAP parser reads the same verdicts', () => {
  const results = Parser.parse(toTap(report), { strict: true }) as Parsed[]
  const [final] = results.filter(([name]) => name === 'complete')
  expect(final?.[1]).toMatchObject({
    ok: false,
    count: 6,
    pass: 4,
    fail: 2,
    skip: 1,
    failures: [{ id: 2 }, { id: 5 }],
  })
  expect(results.filter(([name]) => name === 'extra')).toEqual([])
  const skipped = results.find(([name, value]) => name === 'assert' && value.skip)
  expect(skipped?.[1]).toMatchObject({ ok: true, id: 4 })
})

test('a TAP parser reads a report without cases', () => {
  const [final] = (Parser.parse(toTap(empty)) as Parsed[]).filter(([name]) => name === 'complete')
  expect(final?.[1]).toMatchObject({ ok: true, count: 0 })
})

test('the output of --json is valid by its published schema', async () => {
  const schema = z.fromJSONSchema(
    readJson(`${fixtures}conformance-report.schema.json`) as z.core.JSONSchema.JSONSchema,
  )
  const printed = JSON.parse(
    formatReport(report, { json: true, tap: false, columns: 100, about: [] }),
  ) as typeof report
  expect(schema.parse(printed)).toEqual(report)
  expect(schema.safeParse({ ...printed, more: 1 }).success).toBe(false)
  expect(schema.safeParse({ ...printed, cases: [{ ...printed.cases[0], verdict: 'so-so' }] }).success).toBe(
    false,
  )
})

test('a report without a checked case is not ok, and says so in every format', async () => {
  const [passed, , , leftOut] = report.cases
  if (passed === undefined || leftOut === undefined) throw new Error('The example has no such cases.')
  const control = { ...passed, group: 'control' }
  const unchecked = makeReport({ ...report, cases: [control, leftOut] })
  expect(unchecked).toMatchObject({ ok: false, totals: { passed: 1, failed: 0, not_checked: 1 } })
  const [final] = (Parser.parse(toTap(unchecked)) as [string, unknown][]).filter(
    ([name]) => name === 'bailout',
  )
  expect(final).toEqual(['bailout', 'None of the requested cases was checked.'])
  expect(renderConformance(unchecked)).toContain('None of the requested cases was checked.')
  const xml = await toJUnit(unchecked)
  expect(xml).toContain('<testsuites tests="2" failures="0" errors="1" skipped="0">')
  expect((await validate(xml)).errors).toEqual([])
  const failed = makeReport({ ...report, cases: [{ ...control, verdict: 'failed' }, leftOut] })
  expect(toTap(failed)).not.toContain('Bail out!')
  expect(makeReport({ ...report, cases: [control] }).ok).toBe(true)
  expect(makeReport({ ...report, cases: [leftOut, passed] }).ok).toBe(true)
})

test('a case that is required and was not checked is an error; others stay as they are', () => {
  const [passed, , , leftOut] = report.cases
  if (passed === undefined || leftOut === undefined) throw new Error('The example has no such cases.')
  const partial = makeReport({ ...report, cases: [passed, leftOut] })
  for (const name of [leftOut.group, leftOut.id, `${leftOut.group}/${leftOut.id}`])
    expect(requireChecked(partial, [name])).toMatchObject({
      ok: false,
      totals: { passed: 1, error: 1, not_checked: 0 },
      cases: [passed, { ...leftOut, verdict: 'error' }],
    })
  expect(requireChecked(partial, [passed.id])).toEqual(partial)
  expect(requireChecked(partial, [])).toBe(partial)
  const interrupted = { ...partial, interrupted: true, ok: false }
  expect(requireChecked(interrupted, [leftOut.id])).toBe(interrupted)
})

test('a report that was interrupted says so in every format', async () => {
  const partial = { ...report, interrupted: true, ok: false }
  const [final] = (Parser.parse(toTap(partial)) as [string, unknown][]).filter(([name]) => name === 'bailout')
  expect(final).toEqual(['bailout', 'Interrupted.'])
  const xml = await toJUnit(partial)
  expect(xml).toContain('<property name="interrupted" value="true"/>')
  expect((await validate(xml)).errors).toEqual([])
})

test('an interrupted report is not ok, and advice fails it only when strict', () => {
  const [passed, , advised] = report.cases
  const cases = [passed, advised].flatMap((one) => one ?? [])
  const made = (options: object) => makeReport({ ...empty, cases, ...options })
  expect(made({})).toMatchObject({ ok: true, totals: { passed: 1, advised: 1, failed: 0 } })
  expect(made({ interrupted: true })).toMatchObject({ ok: false, totals: { failed: 0 } })
  const failed = cases.map((one) => (one === advised ? { ...one, verdict: 'failed' as const } : one))
  expect(made({ cases: failed })).toMatchObject({ ok: true, totals: { advised: 1, failed: 0 } })
  expect(made({ cases: failed, strict: true })).toMatchObject({
    ok: false,
    totals: { advised: 0, failed: 1 },
  })
})

test('a skipped case is left out, also when it was asked for', () => {
  const one = { group: 'refuses', id: 'expired' }
  expect(isSelected(one, {})).toBe(true)
  expect(isSelected(one, { only: ['refuses'] })).toBe(true)
  expect(isSelected(one, { only: ['accepts'] })).toBe(false)
  expect(isSelected(one, { only: ['refuses'], skip: ['refuses/expired'] })).toBe(false)
})
