import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { isLater, orderFieldIssue, revisionTime } from '../../src/model/revision.ts'
import { readOrdering, storedRevision } from '../../src/model/revision-schemas.ts'

describe('a field that --order-by names', () => {
  test.each<[unknown, unknown]>([
    [0, 0],
    [1_795_000_000_000, 1_795_000_000_000],
    ['2026-11-21T18:00:00Z', '2026-11-21T18:00:00.000Z'],
    ['2026-11-21T18:00:00', '2026-11-21T18:00:00.000Z'],
    ['2026-11-21T18:00Z', '2026-11-21T18:00:00.000Z'],
    ['2026-11-21T18:00:00.5+01:00', '2026-11-21T17:00:00.500Z'],
    ['2026-11-21T00:30:00.123456-05:30', '2026-11-21T06:00:00.123456Z'],
    ['2026-11-21T18:00:00.123456789Z', '2026-11-21T18:00:00.123456789Z'],
    ['2026-11-21T18:00:00.1200000Z', '2026-11-21T18:00:00.120Z'],
  ])('takes %j as %j', (value, revision) => expect(readOrdering(value)).toEqual({ revision }))

  test.each([
    [null],
    [-1],
    [1.5],
    [2 ** 53],
    ['1'],
    [''],
    ['yesterday'],
    ['2026-11-21'],
    ['2026-02-30T18:00:00Z'],
    ['2026-11-21T25:00:00Z'],
    ['0000-01-01T00:00:00+01:00'],
    [`2026-11-21T18:00:00.${'1'.repeat(50)}Z`],
    [{}],
    [[1]],
    [true],
  ])('refuses %j', (value) =>
    expect(readOrdering(value).issue).toMatch(/^must be an integer from 0, or an ISO 8601 time/),
  )

  describe('on a machine with another time zone', () => {
    afterEach(() => void vi.unstubAllEnvs())

    test('counts a time without an offset as UTC', () => {
      vi.stubEnv('TZ', 'Asia/Tokyo')
      expect(new Date(0).getTimezoneOffset()).toBe(-540)
      expect(readOrdering('2026-11-21T18:00')).toEqual({ revision: '2026-11-21T18:00:00.000Z' })
    })
  })

  test('orders times exactly, to the microsecond', () => {
    const anyTime = fc
      .tuple(fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }), fc.nat(999_999))
      .map(([date, micro]) => ({
        date,
        micro,
        text: `${date.toISOString().slice(0, -1)}${String(micro).padStart(6, '0')}Z`,
      }))
    fc.assert(
      fc.property(anyTime, anyTime, (one, other) => {
        const after = one.date.getTime() - other.date.getTime() || one.micro - other.micro
        expect(isLater(revisionTime(one.text), revisionTime(other.text))).toBe(after > 0)
      }),
    )
  })
})

test.each([7, '2026-11-21T18:00:00.000Z'])('%j does not come after itself', (revision) =>
  expect(isLater(revision, revision)).toBe(false),
)

test('a stored time has one form, so that equal times are equal texts', () => {
  const isStored = (revision: unknown) => storedRevision.safeParse(revision).success
  expect(['2026-11-21T18:00:00.120Z', '2026-11-21T18:00:00.1234Z', null].map(isStored)).toEqual([
    true,
    true,
    true,
  ])
  expect(['2026-11-21T18:00:00Z', '2026-11-21T18:00:00.1230Z'].map(isStored)).toEqual([false, false])
})

test('a time comes after every number, so that numbers and times have one order', () => {
  expect(isLater('1970-01-01T00:00:00.000Z', Number.MAX_SAFE_INTEGER)).toBe(true)
  expect(isLater(Number.MAX_SAFE_INTEGER, '1970-01-01T00:00:00.000Z')).toBe(false)
})

test.each(['revision', 'updated_at', 'version', 'lastModified', 'rev-2'])('%s can order pushes', (name) =>
  expect(orderFieldIssue(name)).toBeUndefined(),
)

test.each(['', 'table', 'status', 'items', 'totals', '__proto__', 'a.b', '1st', 'x'.repeat(65), 'a b'])(
  '%j cannot order pushes',
  (name) => expect(orderFieldIssue(name)).toBeTypeOf('string'),
)
