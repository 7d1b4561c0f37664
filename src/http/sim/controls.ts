import { Refusal } from '../../model/refusal.ts'
import { type ClockMoveBody, clockMoveBody } from '../../model/simulator/bodies.ts'
import { type Fault, faultsBody, type FaultsView, withDefaults } from '../../model/simulator/fault.ts'
import { durationMs } from '../../model/text/time.ts'
import { type Documented, ok, withBody } from '../route.ts'

/** Clock controls; each call returns the view for the response. */
export interface ClockParts {
  /** `undefined` when the program passed its own clock. */
  clock: MovableTime | undefined
}

interface MovableTime {
  show(): Promise<object>
  /** The signal aborts a move. */
  advance(ms: number, signal: AbortSignal): Promise<object>
  moveTo(time: Date, signal: AbortSignal): Promise<object>
  freeze(frozen: boolean): Promise<object>
}

/** `GET` and `POST /_sim/clock` (contract section 10). */
export function clockRoutes({ clock }: ClockParts): Documented[] {
  return [
    {
      method: 'GET',
      path: '/clock',
      scope: 'simulate',
      doc: {
        id: 'getClock',
        tag: 'Simulator clock',
        summary: 'Retrieve the clock',
        answers: { 200: { description: 'The service clock.', schema: 'Clock' } },
        errors: ['NotFound'],
      },
      handle: async () => ok(await movable(clock).show()),
    },
    {
      method: 'POST',
      path: '/clock',
      scope: 'simulate',
      ...withBody(clockMoveBody, async (move, call) => ok(await moved(movable(clock), move, call.gone()))),
      doc: {
        id: 'moveClock',
        tag: 'Simulator clock',
        summary: 'Move or freeze the clock',
        description:
          'Advances the clock by a duration or to a later time, or freezes it. An advance attempts all due deliveries in order of time and responds when they are recorded. A step stops waiting for an endpoint that gets ever more deliveries: after five new ones and one second of real time, or three seconds while its receiver is quick. The advance ends early when the request is aborted or the state is replaced.',
        answers: {
          200: {
            description: 'The clock, and the attempts made while it moved.',
            schema: ['ClockReport', 'Clock'],
          },
        },
        errors: ['NotFound', 'StateReplaced'],
      },
    },
  ]
}

function movable(clock: MovableTime | undefined): MovableTime {
  if (clock !== undefined) return clock
  throw new Refusal(
    'not_found',
    'This simulator uses a custom clock, which cannot be moved over HTTP. Move that clock in your program.',
  )
}

function moved(clock: MovableTime, move: ClockMoveBody, signal: AbortSignal): Promise<object> {
  if ('freeze' in move) return clock.freeze(move.freeze)
  if ('to' in move) return clock.moveTo(new Date(move.to), signal)
  return clock.advance(durationMs(move.advance) ?? 0, signal)
}

export interface FaultParts {
  faults: FaultControls
}

/** Faults of both kinds, with the seed of their random numbers. */
export interface FaultControls {
  /** Resolves with the faults and their counts over all instances. */
  show(): Promise<FaultsView>
  /** Replaces all faults. Without a seed, uses the default one. */
  set(seed: number | undefined, faults: readonly Fault[]): Promise<FaultsView>
}

/** `GET`, `PUT` and `DELETE /_sim/faults` (contract section 10). A `PUT` replaces all faults and resets their counts. */
export function faultRoutes(parts: FaultParts): Documented[] {
  return [
    {
      method: 'GET',
      path: '/faults',
      scope: 'simulate',
      doc: {
        id: 'getFaults',
        tag: 'Simulator clock',
        summary: 'List faults',
        answers: { 200: { description: 'All faults, with the number of injections.', schema: 'Faults' } },
      },
      handle: async () => ok(await parts.faults.show()),
    },
    {
      method: 'PUT',
      path: '/faults',
      scope: 'simulate',
      ...withBody(faultsBody, async ({ seed, faults }) =>
        ok(await parts.faults.set(seed, faults.map(withDefaults))),
      ),
      doc: {
        id: 'setFaults',
        tag: 'Simulator clock',
        summary: 'Set faults',
        description: 'Replaces all faults and sets their counts to 0.',
        answers: { 200: { description: 'All faults, with default values filled in.', schema: 'Faults' } },
      },
    },
    {
      method: 'DELETE',
      path: '/faults',
      scope: 'simulate',
      doc: {
        id: 'clearFaults',
        tag: 'Simulator clock',
        summary: 'Clear faults',
        answers: { 200: { description: 'An empty list of faults.', schema: 'Faults' } },
      },
      handle: async () => ok(await parts.faults.set(undefined, [])),
    },
  ]
}
