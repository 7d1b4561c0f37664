import { describe, expect, it, test, vi } from 'vitest'
import { createMovableClock, freeze, hold } from '../../src/clock.ts'
import { createClockControls } from '../../src/delivery/clock-controls.ts'
import { createClockFile, initialClockTime } from '../../src/delivery/clock-file.ts'
import { Refusal } from '../../src/model/refusal.ts'
import { createLocalValues } from '../../src/store/shared-values.ts'
import { temporaryDirectory } from '../support/simulator.ts'
import type { Settled } from '../../src/delivery/backlog.ts'

const start = new Date('2026-11-21T18:00:00.000Z')

/** Opens controls of a frozen clock with scripted results for its backlog. */
function open({ settled = [], save }: { settled?: Partial<Settled>[]; save?: () => Promise<void> }) {
  const clock = createMovableClock({ start, frozen: true })
  const saved: number[] = []
  const visited: string[] = []
  let turn = 0
  const controls = createClockControls({
    clock,
    values: createLocalValues(),
    generation: () => 0,
    instance: 'one',
    backlog: async () => ({
      inFlight: () => [],
      end() {},
      async settle() {
        visited.push(clock.now().toISOString())
        return { next_at: null, unrecorded: 0, ...settled[turn++] }
      },
    }),
    clockFile: {
      async save(offset) {
        await save?.()
        // In whole seconds of the clock, since real time goes on meanwhile.
        saved.push(Math.floor((offset + Date.now() - start.getTime()) / 1000))
      },
    },
    onCommit: () => () => {},
    isStopping: () => false,
  })
  return { clock, controls, saved, visited }
}

test('of overlapping saves of the clock, the last one stays', async () => {
  const file = createClockFile(await temporaryDirectory())
  for (let round = 0; round < 20; round += 1) {
    const offsets = [5, 4, 3, 2, 1].map((offset) => round * 10 + offset)
    await Promise.all(offsets.map((offset) => file.save(offset)))
    expect(await file.read()).toEqual({ offset_ms: round * 10 + 1 })
  }
})

describe('a move of the clock', () => {
  it('stops at each due time, and at the end', async () => {
    const { controls, visited } = open({
      settled: [{ next_at: '2026-11-21T18:00:10.000Z' }, { next_at: '2026-11-21T18:00:30.001Z' }],
    })
    await controls.advance(30_000)
    expect(visited).toEqual([
      '2026-11-21T18:00:00.000Z',
      '2026-11-21T18:00:10.000Z',
      '2026-11-21T18:00:30.000Z',
    ])
  })

  it('does not stop the clock when the store cannot be read', async () => {
    const clock = createMovableClock({ start })
    const apply = vi.spyOn(clock, 'apply')
    const controls = createClockControls({
      clock,
      values: createLocalValues(),
      generation: () => 0,
      instance: 'one',
      backlog: () => Promise.reject(new Refusal('storage_unavailable', 'no answer')),
      clockFile: { save: async () => undefined },
      onCommit: () => () => {},
      isStopping: () => false,
    })
    await expect(controls.advance(1)).rejects.toMatchObject({ code: 'storage_unavailable' })
    expect(apply.mock.calls.filter(([setting]) => setting.held)).toEqual([])
    expect(clock.setting()).toMatchObject({ stands_at: null, held: false })
  })

  it('stops where an outcome could not be recorded, fails, and can be continued', async () => {
    const { clock, controls, saved } = open({
      settled: [{ next_at: '2026-11-21T18:00:10.000Z' }, { unrecorded: 1 }],
    })
    await expect(controls.advance(30_000)).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringContaining('The clock stopped at 2026-11-21T18:00:10.000Z.') as string,
    })
    expect(clock.now().toISOString()).toBe('2026-11-21T18:00:10.000Z')
    expect(saved).toEqual([30, 10])
    expect(await controls.advance(20_000)).toMatchObject({ now: '2026-11-21T18:00:30.000Z' })
  })

  it('stores the target time before it moves; when that fails, nothing moves', async () => {
    const { controls, visited } = open({ save: () => Promise.reject(new Error('no room')) })
    await expect(controls.advance(30_000)).rejects.toMatchObject({ code: 'storage_unavailable' })
    expect(visited).toEqual([])
    expect(await controls.show()).toMatchObject({ now: start.toISOString(), frozen: true })
  })

  it('that waits behind another one is refused when the service stops', async () => {
    let begin = () => {}
    const begun = new Promise<void>((resolve) => (begin = resolve))
    let finish = () => {}
    const finished = new Promise<void>((resolve) => (finish = resolve))
    const { controls, saved } = open({
      save() {
        begin()
        return finished
      },
    })
    const first = controls.advance(30_000)
    const second = controls.advance(30_000)
    await begun
    const ended = controls.ended()
    finish()
    expect(await Promise.allSettled([first, second, ended])).toMatchObject([
      { reason: { code: 'shutting_down' } },
      { reason: { code: 'shutting_down' } },
      { status: 'fulfilled' },
    ])
    expect(saved).not.toContain(60)
  })

  it('keeps a running clock running', async () => {
    const { clock, controls } = open({})
    clock.apply(freeze(clock.setting(), false))
    expect(await controls.advance(1000)).toMatchObject({ frozen: false })
    clock.apply(hold(clock.setting(), true))
    expect(clock.now().getTime()).toBeGreaterThanOrEqual(start.getTime() + 1000)
  })
})

describe('a jump of the clock', () => {
  it('also goes backwards, is stored, attempts nothing, and can be undone', async () => {
    const { clock, controls, saved, visited } = open({})
    const back = await controls.jump({ time: new Date('2026-11-21T17:00:00.000Z'), frozen: true })
    expect(await controls.show()).toMatchObject({ now: '2026-11-21T17:00:00.000Z', frozen: true })
    expect(saved).toEqual([-3600])
    await back()
    expect(clock.now()).toEqual(start)
    expect(saved).toEqual([-3600, 0])
    expect(visited).toEqual([])
  })

  it('without a time goes to real time and runs', async () => {
    const { controls } = open({})
    await controls.jump({ time: undefined, frozen: false })
    expect(await controls.show()).toMatchObject({ frozen: false, offset_ms: 0 })
  })

  it('that cannot be stored has no effect', async () => {
    const { clock, controls } = open({ save: () => Promise.reject(new Error('no room')) })
    const jump = controls.jump({ time: undefined, frozen: false })
    await expect(jump).rejects.toMatchObject({ code: 'storage_unavailable' })
    expect([clock.now(), clock.isFrozen()]).toEqual([start, true])
  })
})

describe('a freeze of the clock', () => {
  it.each([true, false])('that cannot be stored leaves the clock as it was: frozen is %j', async (frozen) => {
    const { clock, controls } = open({ save: () => Promise.reject(new Error('no room')) })
    clock.apply(freeze(clock.setting(), frozen))
    await expect(controls.freeze(!frozen)).rejects.toMatchObject({ code: 'storage_unavailable' })
    expect(await controls.show()).toMatchObject({ frozen })
  })
})

describe('a clock starts', () => {
  const now = new Date('2026-01-01T00:00:00.000Z')
  const known = { wanted: undefined, stored: undefined, newest: undefined, now }
  const newest = { created_at: '2026-06-01T00:00:00.000Z' }
  const wanted = start

  it.each([
    ['now', known, undefined],
    ['where it was left', { ...known, stored: { offset_ms: 1000 }, newest }, '2026-01-01T00:00:01.000Z'],
    ['where it shall', { ...known, wanted, newest }, '2026-11-21T18:00:00.000Z'],
    [
      'not before where it was left',
      { ...known, wanted, stored: { offset_ms: 4e10 } },
      '2027-04-08T23:06:40.000Z',
    ],
    [
      'where it was frozen',
      { ...known, stored: { offset_ms: 1000, stands_at: now.getTime() + 60_000 } },
      '2026-01-01T00:01:00.000Z',
    ],
    ['not before the newest event', { ...known, wanted: now, newest }, newest.created_at],
  ])('%s', (_where, given, time) => {
    expect(initialClockTime(given)?.time.toISOString()).toBe(time)
  })
})
