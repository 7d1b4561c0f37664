import { describe, expect, it } from 'vitest'
import { readFaultWords } from '../../src/cli/parse-faults.ts'

describe('the words of faults set', () => {
  it('are a probability each, 1 when none is given, and a time for latency', () => {
    expect(readFaultWords(['duplicate=0.3', 'reorder=.5', 'delay', 'drop=0', 'latency=1s', 'error'])).toEqual(
      {
        deliveries: { duplicate: 0.3, reorder: 0.5, delay: 1, drop: 0 },
        api: { latency_ms: 1_000, error_rate: 1 },
      },
    )
    expect(readFaultWords(['latency=250', 'lost-answer=1', 'reset_rate=0.5'])).toEqual({
      deliveries: {},
      api: { latency_ms: 250, lost_answer_rate: 1, reset_rate: 0.5 },
    })
  })

  it.each([
    [
      'dorp=0.2',
      '"dorp" is no fault. Did you mean drop? On deliveries there are duplicate, reorder, delay, drop;',
    ],
    ['Errors', 'Did you mean error?'],
    ['chaos', '"chaos" is no fault. On deliveries there are'],
    ['=1', '"" is no fault. On deliveries'],
    ['drop=', 'drop=: a probability goes from 0 to 1'],
    ['drop=20%', 'drop=20%: a probability goes from 0 to 1, such as 0.3; without one it is 1.'],
    ['drop=-1', 'a probability goes from 0 to 1'],
    ['latency', 'latency: it takes a time from 1ms to 60s, such as latency=200ms.'],
    ['latency=2m', 'latency=2m: it takes a time'],
  ])('that are wrong, such as %s, are told what there is', (word, message) => {
    expect(() => readFaultWords(['drop', word])).toThrow(message)
  })
})
