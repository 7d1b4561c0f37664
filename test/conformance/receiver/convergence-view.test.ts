import { describe, expect, it } from 'vitest'
import { createComparison } from '../../../src/conformance/receiver/convergence/comparison.ts'
import { createScenario } from '../../../src/conformance/receiver/convergence/scenario.ts'
import { parseView, partOf } from '../../../src/conformance/receiver/convergence/view.ts'
import type { Check } from '../../../src/model/check.ts'
import { createNewId } from '../../../src/ids.ts'

const names = new Map([
  ['chk_1', '{check 1}'],
  ['tabwire-trial-1', '{external check 1}'],
  ['tabwire-trial-1-line-2', '{line 2}'],
  ['evt_9', '{event 9}'],
  ['700001', '{table 1}'],
])
const json = (value: unknown) => parseView(JSON.stringify(value), names)
const text = (body: string) => parseView(body, names)
const parted = (value: unknown, before: unknown = {}) => {
  const part = partOf(json(value), json(before))
  return part.kind === 'json' ? part.value : part.kind
}

describe('the view of a trial', () => {
  it('has stable names for its identifiers in any case of letters, but not within longer words', () => {
    expect(
      json({ CHK_1: 'of chk_1, not chk_12', line: ['tabwire-trial-1-line-2'], table: '700001' }),
    ).toEqual({
      kind: 'json',
      value: { '{check 1}': 'of {check 1}, not chk_12', line: ['{line 2}'], table: '{table 1}' },
    })
  })

  it('of text is split into lines, tags and the text between tags', () => {
    expect(text('Check chk_1\r\n\n  total 5 ')).toEqual({
      kind: 'text',
      lines: ['Check {check 1}', 'total 5'],
    })
    expect(text('<b>chk_1</b>5')).toEqual({ kind: 'text', lines: ['<b>', '{check 1}', '</b>', '5'] })
  })
})

describe('the part of a view that belongs to a trial is', () => {
  it('the whole entries of lists that mention its identifiers', () => {
    const mine = { check: { id: 'chk_1' }, paid: 5, items: [{ name: 'Soup' }] }
    expect(parted({ shop: { checks: [{ id: 'chk_2', paid: 7 }, mine] } })).toEqual({
      shop: { checks: [{ ...mine, check: { id: '{check 1}' } }] },
    })
  })

  it('the entries of maps under its identifiers', () => {
    expect(parted({ checks: { chk_2: { paid: 7 }, chk_1: { paid: 5, open: true } } })).toEqual({
      checks: { '{check 1}': { paid: 5, open: true } },
    })
  })

  it('an object with its identifier, without entries of other trials', () => {
    expect(parted({ last_event: 'evt_9', state: 'ok', events: ['evt_8', 'evt_9'] })).toEqual({
      last_event: '{event 9}',
      state: 'ok',
      events: ['{event 9}'],
    })
  })

  it('elsewhere the growth of numbers', () => {
    expect(
      parted({ taken: 0.3, name: 'a', shop: { count: 4 }, id: 7 }, { taken: 0.1, shop: {}, id: 7 }),
    ).toEqual({
      taken: 0.2,
      shop: { count: 4 },
    })
  })

  it('nothing when the view does not mention the trial', () => {
    expect(parted({ name: 'a', checks: [{ id: 'chk_2' }], count: 4 }, { count: 4 })).toBe('none')
  })

  it('the new lines of a text', () => {
    expect(partOf(text('a\na\nb\nchk_1'), text('a\nb'))).toEqual({ kind: 'text', lines: ['a', '{check 1}'] })
  })
})

describe('two views are equal', () => {
  it('in any order of keys, lists and lines, and otherwise only when values are equal', () => {
    const { areEqual } = createComparison()
    expect(areEqual([json({ a: [1, { b: 2, c: 3 }] })], [json({ a: [{ c: 3, b: 2 }, 1] })])).toBe(true)
    expect(areEqual([json({ a: [1, 1] })], [json({ a: [1] })])).toBe(false)
    expect(areEqual([json({ a: '1' })], [json({ a: 1 })])).toBe(false)
    expect(areEqual([text('a\nb')], [text('b\na')])).toBe(true)
    expect(areEqual([{ kind: 'none' }], [json({})])).toBe(false)
  })

  it('apart from fields that differ between identical runs', () => {
    const comparison = createComparison()
    const view = (at: number, total: number) => [json({ rows: [{ at, total, note: 'x' }], at })]
    comparison.ignore(view(1, 5), view(2, 5))
    expect(comparison.areEqual(view(3, 5), view(4, 5))).toBe(true)
    expect(comparison.areEqual(view(3, 5), view(3, 6))).toBe(false)
    expect(comparison.ignored()).toEqual(['rows[].at', 'at'])
    expect(comparison.differences(view(3, 5), view(4, 6))).toEqual([
      { path: 'rows[].total', one: '5', other: '6' },
    ])
  })

  it('apart from keys that differ between identical runs, whose values are still compared', () => {
    const comparison = createComparison()
    const view = (key: string, total: number) => [json({ rows: { [key]: { total } } })]
    comparison.ignore(view('a1', 5), view('b2', 5))
    expect(comparison.areEqual(view('c3', 5), view('d4', 5))).toBe(true)
    expect(comparison.areEqual(view('c3', 5), view('c3', 6))).toBe(false)
  })

  it('apart from words that differ between identical runs, in lines that are still counted', () => {
    const comparison = createComparison()
    const row = (time: string, total: number) => `${time} total ${total}`
    comparison.ignore([text(row('18:04:05.123', 45))], [text(row('18:04:06.987', 45))])
    const view = (...rows: string[]) => [text(rows.join('\n'))]
    const usual = view(row('23:59:59.000', 45))
    expect(comparison.areEqual(usual, view(row('00:00:00.001', 45)))).toBe(true)
    expect(comparison.areEqual(usual, view(row('00:00:00.001', 90)))).toBe(false)
    expect(comparison.areEqual(usual, view(row('00:00:00.001', 45), row('00:00:00.002', 45)))).toBe(false)
  })

  it('apart from short words that differ, only in lines that are otherwise equal', () => {
    const comparison = createComparison()
    comparison.ignore([text('12 checks\n45 due')], [text('14 checks\n45 due')])
    expect(comparison.areEqual([text('16 checks\n45 due')], [text('18 checks\n45 due')])).toBe(true)
    expect(comparison.areEqual([text('12 checks\n45 due')], [text('12 checks\n46 due')])).toBe(false)
  })
})

describe('the sequence of deliveries', () => {
  const newId = createNewId(() => new Date())
  const now = Date.parse('2026-11-21T18:00:00Z')
  const scenario = (seed: number) => createScenario({ seed, newId, now })

  it('has full state with past times that grow within a check and from trial to trial, and some shared times', () => {
    const { trial, steps } = scenario(1)
    const trials = [trial(0), trial(1)]
    const times = trials.flatMap(({ envelopes }) => envelopes.map(({ created_at }) => created_at))
    expect(times).toEqual(times.toSorted())
    expect(new Set(times).size).toBe(times.length - 4)
    for (const { envelopes } of trials) {
      const states = envelopes
        .filter(({ type }) => type.startsWith('check.'))
        .map(({ data }) => data as Check)
      for (const { id } of states) {
        const ofOne = states.filter((state) => state.id === id).map(({ updated_at }) => updated_at)
        expect(new Set(ofOne).size).toBe(ofOne.length)
      }
      const [paid, closed] = states.filter(({ id }) => id === states[0]?.id).slice(-2)
      expect(closed?.updated_at.slice(0, 19)).toBe(paid?.updated_at.slice(0, 19))
    }
    expect(times.every((time) => Date.parse(time) < now)).toBe(true)
    for (const { envelopes, checks } of trials)
      for (const [at, { type, created_at, data }] of envelopes.entries()) {
        const check = checks[(steps[at]?.check ?? 0) - 1]
        if (type === 'payment.succeeded')
          expect(data).toMatchObject({ ...check, status: 'succeeded', created_at, refunded_at: null })
        else if (type === 'payment.refunded')
          expect(data).toMatchObject({
            ...(envelopes[at - 1]?.data as object),
            status: 'partially_refunded',
            refunded_cents: expect.toSatisfy((cents) => cents > 0) as unknown,
            refunded_at: created_at,
          })
        else {
          const state = data as Check
          expect(state).toMatchObject({ id: check?.check_id, external_id: check?.external_check_id })
          expect(state.updated_at).toBe(created_at)
          expect(state.balance_cents).toBe(state.totals.total_cents - state.paid_cents)
        }
      }
    const last = trials[0]?.envelopes.at(-1)
    expect(last).toMatchObject({ type: 'check.closed', data: { status: 'closed', balance_cents: 0 } })
  })

  it('has the events of each trial in another minute than those of all other trials', () => {
    const { trial } = scenario(1)
    const minutes = [0, 1, 2, 3].map(
      (number) => new Set(trial(number).envelopes.map(({ created_at }) => created_at.slice(0, 16))),
    )
    expect(new Set(minutes.flatMap((some) => [...some])).size).toBe(
      minutes.reduce((sum, { size }) => sum + size, 0),
    )
  })

  it('has new identifiers in each trial, and a name for each of them', () => {
    const { trial } = scenario(1)
    const [first, second] = [trial(0), trial(1)]
    expect([...first.names.keys()].filter((text) => second.names.has(text))).toEqual([])
    const rest = first.envelopes.map((envelope) =>
      JSON.stringify(parseView(JSON.stringify(envelope), first.names)),
    )
    const names = second.envelopes.map((envelope) =>
      JSON.stringify(parseView(JSON.stringify(envelope), second.names)),
    )
    expect(rest).toEqual(names)
  })

  it('depends only on the seed', () => {
    const amounts = (seed: number) =>
      scenario(seed)
        .trial(0)
        .envelopes.map(({ data }) => (data as Partial<Check>).paid_cents)
    expect(amounts(1)).toEqual(amounts(1))
    expect(amounts(1)).not.toEqual(amounts(2))
  })
})
