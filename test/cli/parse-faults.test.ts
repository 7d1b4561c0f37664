import { describe, expect, it } from 'vitest'
import { readFaultWords } from '../../src/cli/parse-faults.ts'

describe('the words of faults set', () => {
  it('are a probability each, 1 by default, and a duration for latency', () => {
    expect(readFaultWords(['duplicate=0.3', 'reorder=.5', 'delay', 'drop=0', 'latency=1s', 'error'])).toEqual(
      {
        deliveries: { duplicate: 0.3, reorder: 0.5, delay: 1, drop: 0 },
        api: { latency_ms: 1_000, error_rate: 1 },
      },
    )
    expect(readFaultWords(['latency=60000', 'drop=1.']).api).toEqual({ latency_ms: 60_000 })
    expect(readFaultWords(['latency=250', 'lost-answer=1', 'reset_rate=0.5'])).toEqual({
      deliveries: {},
      api: { latency_ms: 250, lost_answer_rate: 1, reset_rate: 0.5 },
    })
  })

  it.each([
    [
      'dorp=0.2',
      'Unknown fault "dorp". Did you mean drop? Faults on deliveries: duplicate, reorder, delay, drop. Faults on the API: latency, error, reset, lost_answer.',
    ],
    ['Errors', 'Did you mean error?'],
    [
      'chaos',
      'Unknown fault "chaos". Faults on deliveries: duplicate, reorder, delay, drop. Faults on the API: latency, error, reset, lost_answer.',
    ],
    [
      '=1',
      'Unknown fault "". Faults on deliveries: duplicate, reorder, delay, drop. Faults on the API: latency, error, reset, lost_answer.',
    ],
    ['drop=', 'FAULT must have a probability from 0 to 1, such as drop=0.3, got "drop=".'],
    ['drop=20%', 'FAULT must have a probability from 0 to 1, such as drop=0.3, got "drop=20%".'],
    ['drop=-1', 'FAULT must have a probability from 0 to 1, such as drop=0.3, got "drop=-1".'],
    [
      'delay=5s',
      'FAULT must have a probability from 0 to 1, such as drop=0.3, got "delay=5s". For the duration, pass --delay-for 5s.',
    ],
    ['drop=1.01', 'FAULT must have a probability from 0 to 1, such as drop=0.3, got "drop=1.01".'],
    ['drop=1e-1', 'FAULT must have a probability from 0 to 1, such as drop=0.3, got "drop=1e-1".'],
    ['drop=0x1', 'FAULT must have a probability from 0 to 1, such as drop=0.3, got "drop=0x1".'],
    ['latency=0', 'FAULT must have a duration from 1ms to 60s, such as latency=200ms, got "latency=0".'],
    [
      'latency=60001',
      'FAULT must have a duration from 1ms to 60s, such as latency=200ms, got "latency=60001".',
    ],
    ['latency', 'FAULT must have a duration from 1ms to 60s, such as latency=200ms, got "latency".'],
    ['latency=2m', 'FAULT must have a duration from 1ms to 60s, such as latency=200ms, got "latency=2m".'],
  ])('are refused if they are wrong, such as %s, with the valid words', (word, message) => {
    expect(() => readFaultWords(['drop', word])).toThrow(message)
  })
})
