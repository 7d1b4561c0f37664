import { beforeEach, describe, expect, test, vi } from 'vitest'
import {
  createMovableClock,
  freeze,
  hold,
  moveTo,
  setTo,
  systemClock,
  type ClockSetting,
  type MovableClock,
} from '../src/clock.ts'
import { fakeOwnTimers } from './support/fake-timers.ts'

const start = new Date('2026-11-21T18:00:00.000Z')
const later = (ms: number) => new Date(start.getTime() + ms)

/** Changes how a clock goes. */
const change = (clock: MovableClock, to: (setting: ClockSetting) => ClockSetting) =>
  clock.apply(to(clock.setting()))
const moved = (clock: MovableClock, time: Date) => change(clock, (setting) => moveTo(setting, time))
const frozenly = (clock: MovableClock, frozen: boolean) => change(clock, (setting) => freeze(setting, frozen))
const held = (clock: MovableClock, isHeld: boolean) => change(clock, (setting) => hold(setting, isHeld))

beforeEach(() => fakeOwnTimers({ now: new Date('2026-01-01T00:00:00.000Z') }))

const DAY = 24 * 60 * 60 * 1000

describe.each([
  ["the machine's own", () => systemClock],
  ['a movable one', () => createMovableClock()],
])('a clock, %s,', (_which, make) => {
  test.each([24, 25, 50, 365])('fires an alarm after %i days, and not before', (days) => {
    const task = vi.fn()
    const rings = Date.now() + days * DAY
    make().at(new Date(rings), task)
    vi.advanceTimersByTime(1000)
    expect(task).not.toHaveBeenCalled()
    // Not step by step: that many timers take minutes.
    vi.setSystemTime(rings - 20_000)
    vi.advanceTimersByTime(19_999)
    expect(task).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(task).toHaveBeenCalledTimes(1)
  })

  test('leaves no timer behind when an alarm of 60 days is cancelled after 40 days', () => {
    const task = vi.fn()
    const rings = Date.now() + 60 * DAY
    const cancel = make().at(new Date(rings), task)
    vi.setSystemTime(rings - 20 * DAY)
    vi.advanceTimersByTime(20_000)
    cancel()
    expect(vi.getTimerCount()).toBe(0)
    vi.setSystemTime(rings)
    vi.advanceTimersByTime(20_000)
    expect(task).not.toHaveBeenCalled()
  })
})

describe('a movable clock', () => {
  test('starts at real time and runs with it', () => {
    const clock = createMovableClock()
    expect(clock.now()).toEqual(new Date())
    vi.advanceTimersByTime(1234)
    expect(clock.now()).toEqual(new Date())
    expect(clock.offsetMs()).toBe(0)
  })

  test('has no offset after it is set to real time, even when setting it takes a while', () => {
    const clock = createMovableClock({ start })
    let time = Date.now()
    const slow = vi.spyOn(Date, 'now').mockImplementation(() => time++)
    change(clock, (setting) => setTo(setting, undefined, false))
    slow.mockRestore()
    expect(clock.offsetMs()).toBe(0)
  })

  test('keeps its offset when it is created later than its start was computed', () => {
    const real = new Date()
    vi.advanceTimersByTime(7)
    expect(createMovableClock({ start: new Date(real.getTime() + 60_000), real }).offsetMs()).toBe(60_000)
  })

  test('starts at the given time, before or after real time, and runs from there', () => {
    const clock = createMovableClock({ start })
    vi.advanceTimersByTime(1234)
    expect(clock.now()).toEqual(later(1234))
    expect(createMovableClock({ start: new Date(0) }).now()).toEqual(new Date(0))
  })

  test('stops when it is frozen, and continues from that time', () => {
    const clock = createMovableClock({ start, frozen: true })
    vi.advanceTimersByTime(5000)
    expect(clock.now()).toEqual(start)
    expect(clock.isFrozen()).toBe(true)
    frozenly(clock, false)
    vi.advanceTimersByTime(10)
    expect(clock.now()).toEqual(later(10))
    frozenly(clock, true)
    vi.advanceTimersByTime(10)
    expect(clock.now()).toEqual(later(10))
  })

  test('stops while it is held, and afterwards is frozen or runs as set, not behind the time that it would show', () => {
    const clock = createMovableClock({ start })
    held(clock, true)
    vi.advanceTimersByTime(10)
    expect([clock.now(), clock.isFrozen()]).toEqual([start, false])
    frozenly(clock, true)
    held(clock, false)
    vi.advanceTimersByTime(10)
    expect(clock.now()).toEqual(start)
    held(clock, true)
    frozenly(clock, false)
    vi.advanceTimersByTime(10)
    expect(clock.now()).toEqual(start)
    held(clock, false)
    vi.advanceTimersByTime(10)
    expect(clock.now()).toEqual(later(20))
  })

  test('runs on from where it stood when it is unfrozen during a move', () => {
    const clock = createMovableClock({ start, frozen: true })
    held(clock, true)
    vi.advanceTimersByTime(10)
    frozenly(clock, false)
    vi.advanceTimersByTime(5)
    held(clock, false)
    expect(clock.now()).toEqual(later(5))
  })

  test('runs on from where a move ended, also when the move took longer than it moved the clock', () => {
    const clock = createMovableClock({ start })
    const before = clock.offsetMs()
    held(clock, true)
    vi.advanceTimersByTime(10)
    moved(clock, later(60_000))
    held(clock, false)
    expect([clock.now(), clock.offsetMs()]).toEqual([later(60_000), before + 59_990])
    held(clock, true)
    moved(clock, later(60_005))
    vi.advanceTimersByTime(30)
    held(clock, false)
    expect([clock.now(), clock.offsetMs()]).toEqual([later(60_030), before + 59_990])
  })

  test.each([true, false])('moves forward and never back (frozen: %s)', (frozen) => {
    const clock = createMovableClock({ start, frozen })
    moved(clock, later(60_000))
    moved(clock, later(60_000))
    expect(clock.now()).toEqual(later(60_000))
    for (const wrong of [start, later(59_999), new Date(NaN)])
      expect(() => moved(clock, wrong)).toThrow(RangeError)
    expect(clock.now()).toEqual(later(60_000))
  })

  test('fires an alarm once when its time comes', () => {
    const clock = createMovableClock({ start })
    const task = vi.fn()
    clock.at(later(1000), task)
    vi.advanceTimersByTime(999)
    expect(task).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    vi.advanceTimersByTime(10_000)
    expect(task).toHaveBeenCalledTimes(1)
  })

  test('fires alarms in order when it is moved past them, and a later one when its time comes', () => {
    const clock = createMovableClock({ start })
    const rung: string[] = []
    clock.at(later(3_600_000), () => rung.push('hour'))
    clock.at(later(60_000), () => rung.push('minute'))
    clock.at(later(7_200_000), () => rung.push('two hours'))
    moved(clock, later(3_600_000))
    vi.advanceTimersByTime(1)
    expect(rung).toEqual(['minute', 'hour'])
    moved(clock, later(7_199_990))
    vi.advanceTimersByTime(9)
    expect(rung).toHaveLength(2)
    vi.advanceTimersByTime(1)
    expect(rung).toHaveLength(3)
  })

  test('fires an alarm once, within ten seconds of waking, when the machine slept for eight hours', () => {
    const clock = createMovableClock({ start })
    const task = vi.fn()
    clock.at(later(3_600_000), task)
    vi.setSystemTime(Date.now() + 8 * 3_600_000) // Timers stood still meanwhile.
    vi.advanceTimersByTime(10_000)
    expect(task).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(60_000)
    expect(task).toHaveBeenCalledTimes(1)
  })

  test('fires an alarm no earlier when real time is set back by two hours', () => {
    const clock = createMovableClock({ start })
    const task = vi.fn()
    clock.at(later(5_000), task)
    vi.setSystemTime(Date.now() - 2 * 3_600_000)
    vi.advanceTimersByTime(2 * 3_600_000 + 4_999)
    expect(task).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(task).toHaveBeenCalledTimes(1)
  })

  test('fires only due alarms while frozen, and the others when it runs again', () => {
    const clock = createMovableClock({ start, frozen: true })
    const rung: string[] = []
    clock.at(start, () => rung.push('due'))
    clock.at(later(1000), () => rung.push('soon'))
    expect(rung).toEqual([])
    vi.advanceTimersByTime(60_000)
    expect(rung).toEqual(['due'])
    frozenly(clock, false)
    vi.advanceTimersByTime(999)
    expect(rung).toEqual(['due'])
    vi.advanceTimersByTime(1)
    expect(rung).toEqual(['due', 'soon'])
  })

  test('does not fire a cancelled alarm, and leaves no timer behind', () => {
    const clock = createMovableClock({ start })
    const task = vi.fn()
    const cancel = clock.at(later(1000), task)
    cancel()
    moved(clock, later(2000))
    vi.advanceTimersByTime(10_000)
    expect(task).not.toHaveBeenCalled()
    expect(vi.getTimerCount()).toBe(0)
  })
})

test('a clock that a move stops keeps its offset when it is told to run', () => {
  const clock = createMovableClock({ start })
  held(clock, true)
  vi.advanceTimersByTime(5_000)
  frozenly(clock, false)
  held(clock, false)
  expect(clock.now()).toEqual(later(5_000))
})
