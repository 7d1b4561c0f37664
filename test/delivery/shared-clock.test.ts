import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createMovableClock } from '../../src/clock.ts'
import { CLOCK, createSharedClock } from '../../src/delivery/shared-clock.ts'
import type { Slots } from '../../src/delivery/slots.ts'
import { pausedByReplacement } from '../../src/simulator/sharing.ts'
import { createLocalValues } from '../../src/store/shared-values.ts'
import { fakeOwnTimers } from '../support/fake-timers.ts'

const start = new Date('2026-11-21T18:00:00.000Z')
const later = new Date('2027-01-08T00:00:00.000Z')
/** Longer than a lease stays without renewal. */
const EXPIRY_MS = 6_000

beforeEach(() => fakeOwnTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }))

/** Two instances with shared values. `records` has the number of replacements of all records. */
function openTwo() {
  const values = createLocalValues()
  const records = { generation: 0 }
  const open = (instance: string) => {
    const clock = createMovableClock({ start, frozen: true })
    const generation = () => records.generation
    const shared = createSharedClock({ clock, values, instance, generation, onReplaced: () => {} })
    onTestFinished(() => shared.close())
    return { clock, shared }
  }
  return { values, records, one: open('one'), two: open('two') }
}

/** Begins a replacement that sets the clock, and whose instance then ends without a word. */
async function setAndEnd({ one }: ReturnType<typeof openTwo>, replace: () => void = () => {}): Promise<void> {
  await new Promise<void>((resolve) => {
    const work = async () => {
      await one.shared.jump(later, true)
      replace()
      resolve()
      return new Promise<void>(() => {})
    }
    void one.shared.replacing(work, undefined)
  })
  // No instance that has ended renews its lease.
  one.shared.close()
  vi.clearAllTimers()
}

test('a clock that was set for records which were not replaced goes back when the lease ends', async () => {
  const both = openTwo()
  await setAndEnd(both)
  const { clock, shared } = both.two
  expect(clock.now()).toEqual(later)
  // Notes the lease again: its timer was one of those that ended.
  await shared.freeze(true)
  await vi.advanceTimersByTimeAsync(EXPIRY_MS)
  expect(clock.now()).toEqual(start)
  expect(shared.movingTo()).toBeNull()
})

test('a clock that was set for records which were replaced stays when the lease ends', async () => {
  const both = openTwo()
  await setAndEnd(both, () => (both.records.generation += 1))
  await both.two.shared.freeze(true)
  await vi.advanceTimersByTimeAsync(EXPIRY_MS)
  expect(both.two.clock.now()).toEqual(later)
})

describe('a left-over setting of a replacement that an earlier version ended', () => {
  /** Ends a replacement that set the clock as an earlier version does: it keeps `undo`. */
  async function leaveUndo(both: ReturnType<typeof openTwo>): Promise<void> {
    await setAndEnd(both)
    await both.values.update(CLOCK, (value) => ({
      value: { ...(value as object), turn: null, held: false },
      reply: undefined,
    }))
  }

  test('is not restored when a later move of the clock ends', async () => {
    const both = openTwo()
    await leaveUndo(both)
    const { clock, shared } = both.two
    const target = later.getTime() + 1_000
    await shared.begin(() => target, { signal: undefined, onLost() {} })
    await shared.step(new Date(target))
    await shared.end()
    expect(clock.now()).toEqual(new Date(target))
    expect(both.values.get(CLOCK)).not.toHaveProperty('undo')
  })

  test.each([
    ['a move', later.getTime()],
    ['a replacement', null],
  ])('is not restored when the lease of %s of an earlier version ends', async (_name, to) => {
    const both = openTwo()
    await leaveUndo(both)
    await both.values.update(CLOCK, (value) => {
      const { replacements, ...rest } = value as { replacements: number }
      const turn = { instance: 'old', to }
      return {
        value: { ...rest, replacements: replacements + (to === null ? 1 : 0), turn },
        reply: undefined,
      }
    })
    await vi.advanceTimersByTimeAsync(EXPIRY_MS)
    expect(both.two.shared.movingTo()).toBeNull()
    expect(both.two.clock.now()).toEqual(later)
    expect(both.values.get(CLOCK)).not.toHaveProperty('undo')
  })
})

test('an instance begins no attempt while another one replaces the records', async () => {
  const { values, one } = openTwo()
  const slots: Slots = {
    owns: () => true,
    begin: () => ({ isValid: () => true, end() {} }),
    onChange: () => () => {},
    async close() {},
  }
  const [own, others] = ['one', 'two'].map((instance) => pausedByReplacement(slots, { values, instance }))
  const changed = vi.fn<() => void>()
  others?.onChange(changed)
  const work = async () => {
    expect([own?.owns('we_1'), others?.owns('we_1')]).toEqual([true, false])
    expect(others?.begin('we_1')).toBeUndefined()
    await one.shared.jump(later, true)
    expect(changed).not.toHaveBeenCalled()
  }
  await one.shared.replacing(work, undefined)
  expect(others?.owns('we_1')).toBe(true)
  expect(changed).toHaveBeenCalledOnce()
})
