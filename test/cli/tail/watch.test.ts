import { describe, expect, test } from 'vitest'
import { createDeduplicator, type TailMessage } from '../../../src/cli/tail/watch.ts'

const at = (time: string) => new Date(`2026-11-21T${time}.000Z`)

function attempt(id: string, number: number, time: string, status = 'pending'): TailMessage {
  return {
    type: 'attempt',
    data: { id, status, attempt: { number, started_at: at(time).toISOString() } },
  } as TailMessage
}
const death = (id: string): TailMessage => ({ type: 'delivery', data: { id, status: 'dead' } }) as TailMessage

describe('the deduplicator of tail', () => {
  test('accepts each attempt once, and a death unless the last attempt already showed it', () => {
    const seen = createDeduplicator()
    const told = [
      attempt('dlv_1', 1, '18:00:00'),
      attempt('dlv_1', 1, '18:00:00'),
      attempt('dlv_1', 2, '18:01:00', 'dead'),
      death('dlv_1'),
      death('dlv_2'),
      death('dlv_2'),
    ]
    expect(told.map(seen.isNew)).toEqual([true, false, true, false, true, false])
  })

  test('asks for messages from one minute before the newest one', () => {
    const seen = createDeduplicator()
    seen.begin(at('18:00:00'))
    expect(seen.since(at('18:00:00'))).toEqual(at('17:59:00'))
    seen.isNew(attempt('dlv_1', 1, '19:00:00'))
    seen.isNew(attempt('dlv_2', 1, '18:30:00'))
    expect(seen.since(at('20:00:00'))).toEqual(at('18:59:00'))
  })

  test('asks for all messages when the clock is behind the newest one', () => {
    const seen = createDeduplicator()
    seen.begin(at('18:00:00'))
    expect(seen.since(at('17:00:00'))).toEqual(new Date(0))
  })

  test('accepts messages again after the state was replaced', () => {
    const seen = createDeduplicator()
    seen.isNew(attempt('dlv_1', 1, '19:00:00'))
    seen.forget(at('18:00:00'))
    expect(seen.since(at('18:00:00'))).toEqual(at('17:59:00'))
    expect(seen.isNew(attempt('dlv_1', 1, '18:00:00'))).toBe(true)
  })
})
