import { durationMs } from '../../model/text/time.ts'
import { Refusal } from '../../model/refusal.ts'
import { clockMoveBody, type ClockMove } from '../../model/simulator/bodies.ts'
import { ok, withBody, type Documented } from '../route.ts'

/** The clock as the routes use it; each call returns the view to answer with. */
export interface ClockParts {
  /** `undefined` when the service uses a clock of the program's own. */
  clock: MovableTime | undefined
}

interface MovableTime {
  show(): object
  /** A move ends when its signal aborts. */
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
        summary: 'Show the clock',
        answers: { 200: { description: 'The clock of the service.', schema: 'Clock' } },
        errors: ['NotFound'],
      },
      handle: () => ok(movable(clock).show()),
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
          'An advance attempts everything that falls due, in the order of time, each outcome before the next attempt, and answers when that is done. Under steady traffic it waits for no deliveries that are made more than a second of real time after it began, and no longer than that for an endpoint to which they keep coming. A move ends where the clock stands when its request is ended, or when the state is loaded or reset. `freeze` waits for no move.',
        answers: {
          200: {
            description: 'The clock, and what was attempted while it moved.',
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
    'This service was started with a clock of its own, which cannot be moved here.',
  )
}

function moved(clock: MovableTime, move: ClockMove, signal: AbortSignal): Promise<object> {
  if ('freeze' in move) return clock.freeze(move.freeze)
  if ('to' in move) return clock.moveTo(new Date(move.to), signal)
  return clock.advance(durationMs(move.advance) ?? 0, signal)
}
