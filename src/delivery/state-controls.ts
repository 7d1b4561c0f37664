import { type Everything, noRecords } from '../model/records.ts'
import { countsOf, newestId, stateOf, type State, type StateReport } from '../model/simulator/state.ts'
import { loadState, resetState } from '../operations/state.ts'
import type { Service } from '../service.ts'
import type { ClockControls, ClockTarget } from './clock-controls.ts'
import type { Pump } from './pump.ts'

/** Exports and replaces the whole state (contract section 10). An aborted `signal` keeps a replacement from starting. */
export interface StateControls {
  show(): Promise<State>
  /** Replaces the state. Sets the clock to the state's time, also backwards, frozen or running as it was saved. */
  load(state: State, signal?: AbortSignal): Promise<StateReport>
  /** Removes all data but locations and keys, clears the faults and sets the clock as `start` did. */
  reset(signal?: AbortSignal): Promise<StateReport>
}

interface StateControlsSettings {
  service: Pick<Service, 'everything' | 'replace'>
  clock: Pick<ClockControls, 'alone' | 'jump' | 'show'>
  interrupt: Pump['interrupt']
  /** Returns the target of the clock at a reset. */
  resetTarget: () => ClockTarget
  /** Clears all faults. */
  clearFaults: () => Promise<void>
  /** Called before each replacement, which waits for it. */
  onReplace?: (() => Promise<void>) | undefined
  /** Makes new identifiers sort after the newest record. */
  restarts: {
    /** Announces a replacement to the other instances. Resolves with a function that takes it back. */
    announce: (make: (all: Everything) => Everything) => Promise<() => Promise<void>>
    /** Must be called with the newest id of records that are about to replace all others. */
    prepare: (newestId: string | undefined) => void
  }
}

export function createStateControls(settings: StateControlsSettings): StateControls {
  const { service, clock, interrupt, resetTarget, clearFaults, onReplace, restarts } = settings

  /** Replaces the state while no attempt is in flight: an attempt must be recorded in the state that it began in. */
  async function replace(
    to: ClockTarget,
    make: (all: Everything) => Everything,
    signal?: AbortSignal,
  ): Promise<StateReport> {
    let after: Everything = noRecords
    const makeNoted = (all: Everything) => {
      after = make(all)
      restarts.prepare(newestId(after))
      return after
    }
    const work = async () => {
      await onReplace?.()
      // Before the records, which are dated by the new time.
      const undos = [await clock.jump(to)]
      try {
        undos.push(await restarts.announce(make))
        await service.replace(makeNoted)
      } catch (error) {
        // Where the storage is away, they can fail, too.
        await Promise.allSettled(undos.map((undo) => undo()))
        throw error
      }
    }
    await clock.alone(() => interrupt(work), signal)
    return { clock: await clock.show(), ...countsOf(after) }
  }

  return {
    async show() {
      const now = await clock.show()
      return stateOf(await service.everything(), now)
    },
    load: (state, signal) =>
      replace({ time: new Date(state.clock.now), frozen: state.clock.frozen }, loadState(state), signal),
    async reset(signal) {
      const report = await replace(resetTarget(), resetState, signal)
      await clearFaults()
      return report
    },
  }
}
