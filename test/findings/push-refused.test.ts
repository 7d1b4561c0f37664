import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pushRefused, unreadNotRepeated } from '../../src/findings/index.ts'
import { countsIn, type Sent } from './refused-pushes-fixtures.ts'

const refusal = { status: 422, code: 'validation_failed', message: 'The body is not valid.' }

describe('push_refused', () => {
  test.each([
    [400, 'invalid_json'],
    [400, 'invalid_path'],
    [401, 'unauthorized'],
    [403, 'insufficient_scope'],
    [403, 'forbidden_host'],
    [404, 'not_found'],
    [413, 'payload_too_large'],
    [415, 'unsupported_media_type'],
    [422, 'validation_failed'],
  ])('names %i %s, and says why', (status, code) => {
    const message = pushRefused({ status, code, message: 'Because.' })
    expect(message).toBe(
      `The push was refused with ${status} ${code}, so the check does not have this change. Because.`,
    )
  })

  test.each([
    [201, ''],
    [409, 'conflict_with_paid_items'],
    [429, 'rate_limited'],
    [422, 'fault_injected'],
    [500, 'internal_error'],
    [503, 'storage_unavailable'],
  ])('says nothing of %i %s', (status, code) => {
    expect(pushRefused({ status, code, message: 'Because.' })).toBeUndefined()
  })

  test('cuts a message that lists many issues', () => {
    const shown = (length: number) => pushRefused({ ...refusal, message: 'x'.repeat(length) })
    expect(shown(300)).toMatch(/ x{300}$/)
    expect(shown(301)).toMatch(/ x{300}…$/)
  })

  test('names a 429 that no push of this content, and no newer revision, follows', () => {
    const limited = { status: 429, code: 'rate_limited' }
    const [one, other] = ['{"n":1}', '{"n":2}']
    expect(countsIn([{ check: 'a', body: one, ...limited }])).toEqual({ push_refused: 1 })
    const later = { check: 'a', status: 200 }
    expect(
      countsIn([
        { check: 'a', body: one, ...limited },
        { ...later, body: other },
      ]),
    ).toEqual({
      push_refused: 1,
    })
    expect(
      countsIn([
        { check: 'a', body: one, ...limited },
        { ...later, body: one },
      ]),
    ).toEqual({})
    const { message } = refusal
    expect(unreadNotRepeated({ ...limited, message, newerSettles: false })).toContain(
      'if you sent a newer state',
    )
    expect(unreadNotRepeated({ ...limited, message, newerSettles: true })).not.toContain('newer state')
    expect(unreadNotRepeated({ ...refusal, newerSettles: false })).toBeUndefined()
  })

  test.each([
    [400, 'invalid_request'],
    [408, 'request_timeout'],
  ])('names %i %s of a push that was not repeated, and says why', (status, code) => {
    const invalid = { status, code }
    const sent = { check: 'a', body: '{}' }
    expect(countsIn([{ ...sent, ...invalid }])).toEqual({ push_refused: 1 })
    expect(
      countsIn([
        { ...sent, ...invalid },
        { ...sent, status: 200 },
      ]),
    ).toEqual({})
    expect(unreadNotRepeated({ ...invalid, message: 'No Host.', newerSettles: true })).toBe(
      `The push was refused with ${status} ${code} and was not sent again. The check may lack its change. No Host.`,
    )
  })

  test('is not found in a history without a refused push, whose sender repeats what was not read', () => {
    fc.assert(
      fc.property(fc.array(anyHonestPush, { maxLength: 30 }), (history) => {
        const codes = Object.keys(countsIn(withRepetitions(history)))
        expect(codes).not.toContain('push_refused')
        expect(codes).not.toContain('invalid_push_repeated')
      }),
    )
  })

  test('is found once for each refusal, whatever pushes come between', () => {
    const anyRefused = fc.record({
      check: fc.constantFrom('a', 'b'),
      body: fc.uuid(),
      status: fc.constant(422),
      code: fc.constant('validation_failed'),
    })
    const anyHistory = fc.array(fc.oneof(anyHonestPush, anyRefused), { maxLength: 30 })
    fc.assert(
      fc.property(anyHistory, (history) => {
        const refused = history.filter(({ code }) => code === 'validation_failed').length
        expect(countsIn(withRepetitions(history)).push_refused ?? 0).toBe(refused)
      }),
    )
  })
})

describe('no_idempotent_retry', () => {
  test.each<Pick<Sent, 'status' | 'faults'>>([
    { status: 500 },
    { status: 503 },
    { status: 200, faults: ['lost_answer'] },
    { status: 503, faults: ['reset'] },
  ])('names a push with the answer %j that is not repeated', (answer) => {
    const lost = { check: 'a', body: '{"n":1}', ...answer }
    expect(countsIn([lost])).toEqual({ no_idempotent_retry: 1 })
    expect(countsIn([lost, { ...lost, status: 200, faults: [] }])).toEqual({})
  })
})

/** Adds an accepted push after those that were not read. */
function withRepetitions(history: readonly Sent[]): Sent[] {
  const codes = ['rate_limited', 'invalid_request', 'request_timeout']
  const unread = history.filter(({ code = '' }) => codes.includes(code))
  return [...history, ...unread.map(({ check, body }) => ({ check, body, status: 200 }))]
}

/** Responses that a correct sender may get: success, conflicts, network failures, limits and injected faults. */
const anyAnswer = fc.constantFrom<Pick<Sent, 'status' | 'code' | 'faults'>>(
  { status: 200 },
  { status: 201 },
  { status: 409, code: 'conflict_with_paid_items' },
  { status: 429, code: 'rate_limited' },
  { status: 503, code: 'storage_unavailable' },
  { status: 500, code: 'internal_error' },
  { status: 422, code: 'fault_injected', faults: ['error'] },
  { status: 200, faults: ['lost_answer'] },
  { status: 503, faults: ['reset'] },
  { status: 400, code: 'invalid_request' },
  { status: 408, code: 'request_timeout' },
)

/** Few checks and bodies, so that the same push often comes again. */
const anyHonestPush: fc.Arbitrary<Sent> = fc
  .tuple(fc.constantFrom('a', 'b'), fc.constantFrom('{"n":1}', '{"n":2}'), anyAnswer)
  .map(([check, body, answer]) => ({ check, body, ...answer }))
