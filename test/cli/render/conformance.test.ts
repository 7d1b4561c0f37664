import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { renderConformance } from '../../../src/cli/render/conformance.ts'
import { empty, report } from '../../conformance/report/example.ts'

const text = stripVTControlCharacters(renderConformance(report))

test('each case has its line below its group, and the end counts', () => {
  expect(text).toMatch(
    /^receiver check http:\/\/127\.0\.0\.1:1\/\n\naccepts\n {2}✓ plain {2}Title of plain\n/,
  )
  expect(text).toMatch(/\nrefuses\n {2}✗ wrong /)
  expect(text).toMatch(/\n\n1 passed, 1 failed, 1 skipped, 1 observed {2}in 1\.2 s$/)
})

test('nothing that a receiver answered steers the terminal', () => {
  expect(renderConformance(report)).not.toMatch(/\u0000|\u001b\[2J/)
})

test('a report of nothing is still one', () => {
  expect(stripVTControlCharacters(renderConformance(empty))).toMatch(/0 passed, 0 failed {2}in 0\.0 s$/)
})
