import { durationMs } from '../../model/duration.ts'
import { Refusal } from '../../model/refusal.ts'
import { invalid } from '../../model/validation.ts'
import { ok, type Call, type Reply, type Route } from '../route.ts'

/** What the routes ask of the clock; each answers what is to be shown. */
export interface ClockParts {
  /** `undefined` when the service uses a clock of the program's own. */
  clock: MovableTime | undefined
}

interface MovableTime {
  show(): object
  advance(ms: number, signal: AbortSignal): Promise<object>
  moveTo(time: Date, signal: AbortSignal): Promise<object>
  freeze(frozen: boolean): Promise<object>
}

/** `GET` and `POST /_sim/clock` (contract section 10). */
export function clockRoutes({ clock }: ClockParts): Route[] {
  const row = (
    method: Route['method'],
    handle: (clock: MovableTime, call: Call) => Promise<Reply> | Reply,
  ) => ({
    method,
    path: '/clock',
    scope: 'simulate' as const,
    handle: (call: Call) => handle(movable(clock), call),
  })
  return [
    row('GET', (time) => ok(time.show())),
    row('POST', async (time, call) => ok(await moveOf(await call.body())(time, call.gone()))),
  ]
}

function movable(clock: MovableTime | undefined): MovableTime {
  if (clock !== undefined) return clock
  throw new Refusal(
    'not_found',
    'This service was started with a clock of its own, which cannot be moved here.',
  )
}

/** What a body may ask for, by its one field: what that becomes, and what to say when it becomes nothing. */
const moves: Readonly<Record<string, { read: (value: unknown) => Move | undefined; must: string }>> = {
  advance: {
    read(value) {
      const ms = typeof value === 'string' ? durationMs(value) : undefined
      return ms === undefined ? undefined : (clock, signal) => clock.advance(ms, signal)
    },
    must: 'must be a duration such as 90s, 5m, 36h, 1d, 1h30m or 500ms',
  },
  to: {
    read(value) {
      const time = typeof value === 'string' ? timeOf(value) : undefined
      return time === undefined ? undefined : (clock, signal) => clock.moveTo(time, signal)
    },
    must: 'must be an ISO 8601 time with its zone, such as 2026-11-21T18:00:00Z',
  },
  freeze: {
    read: (value) => (typeof value === 'boolean' ? (clock) => clock.freeze(value) : undefined),
    must: 'must be true or false',
  },
}

/** A move ends with its request. */
type Move = (clock: MovableTime, signal: AbortSignal) => Promise<object>

function timeOf(text: string): Date | undefined {
  const complete = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text)
  return complete && !Number.isNaN(Date.parse(text)) ? new Date(text) : undefined
}

/** @throws Refusal `validation_failed`. */
function moveOf(body: unknown): Move {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  const fields = Object.entries<unknown>(isObject ? { ...body } : {})
  const [name, value] = fields[0] ?? ['', undefined]
  const kind = fields.length === 1 && Object.hasOwn(moves, name) ? moves[name] : undefined
  if (kind === undefined)
    throw invalid([{ path: 'body', message: 'must be an object with exactly one of advance, to and freeze' }])
  const move = kind.read(value)
  if (move === undefined) throw invalid([{ path: name, message: kind.must }])
  return move
}
