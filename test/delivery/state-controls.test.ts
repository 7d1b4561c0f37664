import { expect, test } from 'vitest'
import { createMovableClock } from '../../src/clock.ts'
import { createClockControls } from '../../src/delivery/clock-controls.ts'
import { createStateControls } from '../../src/delivery/state-controls.ts'
import type { Everything } from '../../src/model/records.ts'
import { Refusal } from '../../src/model/refusal.ts'
import { createLocalValues } from '../../src/store/shared-values.ts'
import type { State } from '../../src/model/simulator/state.ts'

const start = new Date('2026-11-21T18:00:00.000Z')
const nothing = {
  locations: [],
  checks: [],
  claims: [],
  payments: [],
  feedback: [],
  endpoints: [],
  events: [],
  deliveries: [],
}

test('a state that cannot be stored changes neither the running clock nor the faults, and its announcement is taken back', async () => {
  const clock = createMovableClock({ start })
  const saved: number[] = []
  const controls = createClockControls({
    clock,
    values: createLocalValues(),
    generation: () => 0,
    instance: 'one',
    backlog: async () => ({
      inFlight: () => [],
      end() {},
      settle: async () => ({ next_at: null, unrecorded: 0 }),
    }),
    clockFile: { save: async (offset) => void saved.push(offset) },
    onCommit: () => () => {},
    isStopping: () => false,
  })
  const offset = clock.offsetMs()
  const seen: Date[] = []
  let areFaultsSet = true
  let announced = 0
  const states = createStateControls({
    service: {
      everything: async (): Promise<Everything> => ({ ...nothing, keys: [] }),
      async replace() {
        seen.push(clock.now())
        throw new Refusal('storage_unavailable', 'no room')
      },
    },
    clock: controls,
    interrupt: (work) => work(),
    resetTarget: () => ({ time: undefined, frozen: false }),
    clearFaults: async () => void (areFaultsSet = false),
    restarts: {
      async announce() {
        announced += 1
        return async () => void (announced -= 1)
      },
      prepare: () => undefined,
    },
  })
  const state: State = { format: 2, clock: { now: '2020-01-01T00:00:00.000Z', frozen: true }, ...nothing }
  await expect(states.load(state)).rejects.toMatchObject({ code: 'storage_unavailable' })
  expect(seen).toEqual([new Date('2020-01-01T00:00:00.000Z')])
  expect(await controls.show()).toMatchObject({ frozen: false, offset_ms: offset })
  expect(saved.at(-1)).toBe(offset)
  await expect(states.reset()).rejects.toMatchObject({ code: 'storage_unavailable' })
  expect(areFaultsSet).toBe(true)
  expect(announced).toBe(0)
})

test('a state that cannot be stored takes its announcement back also when the clock cannot be set back', async () => {
  const undone: string[] = []
  const noRoom = new Refusal('storage_unavailable', 'no room for the state')
  const states = createStateControls({
    service: {
      everything: async (): Promise<Everything> => ({ ...nothing, keys: [] }),
      replace: () => Promise.reject(noRoom),
    },
    clock: {
      alone: (work) => work(),
      jump: async () => () => {
        undone.push('clock')
        return Promise.reject(new Refusal('storage_unavailable', 'no room for the clock'))
      },
      show: () => Promise.reject(new Error('not used')),
    },
    interrupt: (work) => work(),
    resetTarget: () => ({ time: undefined, frozen: false }),
    clearFaults: async () => undefined,
    restarts: {
      announce: async () => async () => void undone.push('announcement'),
      prepare: () => undefined,
    },
  })
  await expect(states.reset()).rejects.toBe(noRoom)
  expect(undone).toEqual(['clock', 'announcement'])
})
