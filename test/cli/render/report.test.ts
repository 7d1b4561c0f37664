import stringWidth from 'fast-string-width'
import { describe, expect, test } from 'vitest'
import { fitTo } from '../../../src/cli/render/layout.ts'
import { renderAccount } from '../../../src/cli/render/report.ts'
import { casesOf, fails, mergedReport } from '../../../src/cli/report.ts'
import type { Account, Problem, Report, Sums } from '../../../src/model/simulator/report.ts'

const sums: Sums = {
  pushed_cents: 300_627,
  claimed_cents: 128_450,
  paid_cents: 275_805,
  tipped_cents: 24_822,
  refunded_cents: 850,
  owed_cents: 25_672,
  paid_elsewhere_cents: 0,
  overpaid_cents: 0,
}

const problem = (external_check_id: string): Problem => ({
  code: 'event_not_accepted',
  external_check_id,
  at: '2026-11-23T18:00:00.000Z',
  message: `No receiver accepted payment.succeeded of check ${external_check_id}.`,
  requests: [],
  events: ['evt_01M837HST2E220EDAW7X7V186A'],
  deliveries: ['dlv_01M837HST2E220EDAW7X7V186B'],
})

/** An account of so many checks, each with a problem. */
function accountWith(number: number): Account {
  const names = Array.from({ length: number }, (_, at) => `banquet-for-the-annual-meeting-2026-11-23-${at}`)
  return {
    location_id: 'loc_01M837HST2E220EDAW7X7V186A',
    currency: 'USD',
    checks: names.map((external_check_id) => ({
      external_check_id,
      table: { number: '12' },
      status: 'open',
      ...sums,
      problems: ['event_not_accepted', 'check_left_open'],
    })),
    sums,
    problems: names.map(problem),
  }
}

describe('an account', () => {
  test.each([60, 80, 120])('fits %i columns', (columns) => {
    const text = fitTo(columns, renderAccount(accountWith(3), columns))
    expect(text.split('\n').filter((line) => stringWidth(line) > columns)).toEqual([])
    for (const part of ['$3,006.27', '$256.72', 'event_not_accepted', 'dlv_01M837HST2E220EDAW7X7V186B'])
      expect(text).toContain(part)
  })

  test('shows the first problem, and counts the later ones', () => {
    const text = renderAccount(accountWith(3))
    expect(text).toMatch(
      /^✗ event_not_accepted {2}banquet-for-the-annual-meeting-2026-11-23-0\n {2}No receiver accepted .*\n {4}evt_\w+\n {4}dlv_\w+\n {2}and 2 later problems: 2 event_not_accepted\n\n/,
    )
  })

  test('shows 20 checks at most, and counts the others', () => {
    const text = renderAccount(accountWith(23))
    expect(text.match(/^banquet-/gm)).toHaveLength(20)
    expect(text).toMatch(/\nall 23 checks .*\nand 3 more checks with problems$/)
  })

  test('shows only the sums when it has no problems, and says when no check was pushed', () => {
    const right = { ...accountWith(2), problems: [] }
    const text = renderAccount({ ...right, checks: right.checks.map((one) => ({ ...one, problems: [] })) })
    expect(text).toMatch(/^✓ The account adds up\.\n\nACCOUNT +PUSHED .*\n2 checks +\$3,006\.27 [^\n]*$/)
    expect(renderAccount({ ...right, checks: [] })).toBe('The account is empty: no check was pushed.')
    const others = { checks_of_other_locations: 1 }
    expect(renderAccount({ ...right, ...others, checks: [] })).toBe(
      'The account is empty: no check of this location was pushed.\nNot in the account: 1 check of other locations.',
    )
    expect(renderAccount({ ...right, ...others })).toMatch(
      /\nNot in the account: 1 check of other locations\.$/,
    )
  })

  test('makes texts of a POS safe for a terminal', () => {
    expect(renderAccount(accountWith(1)).includes('\u001b[2J')).toBe(false)
    const account = accountWith(1)
    const wild = { ...account, problems: [{ ...problem('a\u001b[2J'), message: 'b\u001b[2J' }] }
    expect(renderAccount(wild)).not.toContain('\u001b[2J')
  })
})

test('a finding that only the account has, from before --since, is a failed case', () => {
  const late: Problem = { ...problem('table-12'), code: 'overpaid', message: 'Check table-12 is overpaid.' }
  const reported = {
    pushes: 0,
    refused: [],
    since: '2026-11-23T19:00:00.000Z',
    findings: [],
    account: { ...accountWith(0), problems: [late] },
  }
  const { ok, cases } = casesOf(reported, ['any'], { suite: 'report', target: '' })
  expect({ ok, isFailure: fails(reported, ['any'], undefined) }).toEqual({ ok: false, isFailure: true })
  expect(cases.filter(({ verdict }) => verdict === 'failed')).toMatchObject([
    { group: 'findings', id: 'overpaid', detail: 'Check table-12 is overpaid.' },
  ])
})

test('mergedReport adds counts up, keeps the order of codes, and the newest ten requests of each', () => {
  const request = (id: number) => ({
    ...{ id: `req_${id}`, method: 'PUT', path: '/v1/checks/external/one', status: 200 },
    ...{ started_at: '2026-11-23T18:00:00.000Z', message: 'Wrong.' },
  })
  const finding = (code: 'totals_mismatch' | 'overpaid', minute: number, ids: readonly number[]) => ({
    code,
    count: ids.length,
    first_at: `2026-11-23T18:0${minute}:00.000Z`,
    last_at: `2026-11-23T18:0${minute}:30.000Z`,
    requests: ids.map(request),
    includes_earlier: false,
  })
  const refused = (code: string, count: number) => ({ status: 409, code, count })
  const reports: Report[] = [
    { since: null, pushes: 8, refused: [refused('a', 3)], findings: [finding('overpaid', 1, [1, 2, 3, 4])] },
    { since: null, pushes: 0, refused: [], findings: [] },
    {
      ...{ since: null, pushes: 9, refused: [refused('b', 4), refused('a', 2)] },
      findings: [finding('totals_mismatch', 2, [20]), finding('overpaid', 2, [5, 6, 7, 8, 9, 10, 11, 12])],
    },
  ]
  const merged = mergedReport(reports)
  expect(merged).toMatchObject({
    ...{ since: null, pushes: 17, refused: [refused('a', 5), refused('b', 4)] },
    findings: [
      { code: 'totals_mismatch', count: 1, first_at: '2026-11-23T18:02:00.000Z' },
      {
        ...{ code: 'overpaid', count: 12 },
        ...{ first_at: '2026-11-23T18:01:00.000Z', last_at: '2026-11-23T18:02:30.000Z' },
      },
    ],
  })
  const ids = merged.findings[1]?.requests.map(({ id }) => id)
  expect(ids).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((id) => `req_${id}`))
})
