import type { Everything } from '../model/records.ts'
import { countsOf, newestId, stateOf, type State, type StateReport } from '../model/state.ts'
import { loadState } from '../operations/load-state.ts'
import { resetState } from '../operations/reset-state.ts'
import type { Service } from '../service.ts'
import type { ClockControls, ClockTarget } from './clock-controls.ts'
import type { Pump } from './pump.ts'

/**
 * What shows everything, and puts something else in its place (contract section 10). Once `signal` has aborted, a
 * replacement does not begin.
 */
export interface StateControls {
  show(): Promise<State>
  /** The clock goes to the time of the state, backwards too, and stands there or runs on as it did when it was saved. */
  load(state: State, signal?: AbortSignal): Promise<StateReport>
  /** A fresh store with the locations and keys of this one, without faults; the clock is where `start` put it, and as. */
  reset(signal?: AbortSignal): Promise<StateReport>
}

interface ControlsSettings {
  service: Pick<Service, 'everything' | 'replace'>
  clock: Pick<ClockControls, 'alone' | 'jump' | 'show'>
  interrupt: Pump['interrupt']
  /** Where the clock goes at a reset; to real time unless said otherwise. */
  fresh: ClockTarget
  /** Ends what goes wrong on purpose. */
  clearFaults: () => Promise<void>
  /** Has new identifiers sort behind this one. */
  restartAfter: (newestId: string | undefined) => void
}

export function createStateControls(settings: ControlsSettings): StateControls {
  const { service, clock, interrupt, fresh, clearFaults, restartAfter } = settings

  /** When nothing is on its way: an attempt that began in one state must not be recorded in another. */
  async function replace(
    to: ClockTarget,
    make: (all: Everything) => Everything,
    signal?: AbortSignal,
  ): Promise<StateReport> {
    let after: Everything | undefined
    const makeAndNote = (all: Everything) => {
      after = make(all)
      // At this moment, lest a record that comes with the next call be older than those that are there.
      restartAfter(newestId(after))
      return after
    }
    const work = async () => {
      // Before the records, which would otherwise be dated by a time that is over.
      const back = await clock.jump(to)
      await service.replace(makeAndNote).catch(async (error: unknown) => {
        await back()
        throw error
      })
    }
    await clock.alone(() => interrupt(work), signal)
    return { clock: clock.show(), ...countsOf(after ?? (await service.everything())) }
  }

  return {
    async show() {
      const now = clock.show()
      return stateOf(await service.everything(), now)
    },
    load: (state, signal) =>
      replace({ time: new Date(state.clock.now), frozen: state.clock.frozen }, loadState(state), signal),
    async reset(signal) {
      signal?.throwIfAborted()
      await clearFaults()
      return replace(fresh, resetState, signal)
    },
  }
}
