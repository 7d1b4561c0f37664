import { timers } from '../../timers.ts'
import type { StoredEvent } from '../../model/event.ts'
import { Refusal } from '../../model/refusal.ts'
import { inCurrentFormat, issuesOfRecords, type State } from '../../model/simulator/state.ts'
import { brokenRelations } from '../../model/simulator/state-relations.ts'
import { LONGEST_DOCUMENT, createStateScanner } from '../../model/simulator/state-text.ts'
import { invalid, type ValidationIssue } from '../../model/validation.ts'
import { decode, notUtf8, parseJson } from '../body.ts'

/** Passes on the chunks of a body of at most `limit` bytes as they arrive. */
type ReadChunks = (limit: number, take: (chunk: Uint8Array) => void) => Promise<void>

/** Limit of a state with one record per line, in bytes. It is parsed while it arrives; its records must fit twice in memory. */
const LONGEST_STATE = 1024 * 1024 * 1024

/** Records to validate before yielding to other requests: a few milliseconds. */
const SLICE = 200

/**
 * Reads a state of the current format or format 1. Validates it in slices, between which other requests run.
 * @throws Refusal `validation_failed` with all issues of single records, or if there are none, of relations between
 * records; `invalid_json` and `payload_too_large` like {@link readJsonOfState}.
 */
export async function readState(readChunks: ReadChunks): Promise<State> {
  const state = inCurrentFormat(await readJsonOfState(readChunks))
  await requireNone(issuesOfRecords(state))
  await requireNone(brokenRelations(state as State))
  const { events, ...rest } = state as State
  return { ...rest, events: await asStored(events) }
}

/** Returns events with their bodies in the stored form. */
async function asStored(events: State['events']): Promise<State['events']> {
  const stored: StoredEvent[] = []
  for (const event of events) {
    stored.push({ ...event, body: JSON.stringify(JSON.parse(event.body)) })
    if (stored.length % SLICE === 0) await timers.nextTurn()
  }
  return stored
}

async function requireNone(found: Iterable<readonly ValidationIssue[]>): Promise<void> {
  const issues: ValidationIssue[] = []
  let looks = 0
  for (const some of found) {
    issues.push(...some)
    if (++looks % SLICE === 0) await timers.nextTurn()
  }
  if (issues.length > 0) throw invalid(issues)
}

/**
 * Reads the JSON of a state. With one record per line, as in `GET /_sim/state`, it is parsed while it arrives.
 * @throws Refusal `invalid_json`, and `payload_too_large` for other layouts above 128 MiB.
 */
async function readJsonOfState(readChunks: ReadChunks): Promise<unknown> {
  const fields = new Map<string, unknown>()
  let records: unknown[] = []
  const scanner = createStateScanner({
    field: (name, json) => fields.set(name, JSON.parse(json)),
    list: (name) => fields.set(name, (records = [])),
    record: (json) => records.push(JSON.parse(json)),
  })
  /** Chunks for other layouts, which are parsed at the end. */
  let whole: Uint8Array[] = []
  let size = 0
  let byLine = true
  await readChunks(LONGEST_STATE, (chunk) => {
    byLine = scanner.take(chunk)
    size += chunk.byteLength
    if (size <= LONGEST_DOCUMENT) whole.push(chunk)
    else if (byLine) whole = []
    else throw otherLayout()
  })
  if (scanner.end()) return Object.fromEntries(fields)
  if (size > LONGEST_DOCUMENT) throw otherLayout()
  const text = decode(Buffer.concat(whole))
  if (text === undefined) throw notUtf8()
  return parseJson(text)
}

function otherLayout(): Refusal {
  const message = `A state of more than ${LONGEST_DOCUMENT} bytes must have one record per line, as in GET /_sim/state. Use tabwire state load, which converts any layout.`
  return new Refusal('payload_too_large', message, { limit: LONGEST_DOCUMENT })
}
