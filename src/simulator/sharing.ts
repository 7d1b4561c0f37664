import { DAY_MS } from '../model/text/time.ts'
import type { AppParts } from '../http/app.ts'
import type { createSessions } from '../http/auth/sessions.ts'
import { newestId, stateCollections } from '../model/simulator/state.ts'
import { texts } from '../model/simulator/settings.ts'
import type { Everything } from '../model/records.ts'
import type { Service } from '../service.ts'
import type { Store } from '../store/store.ts'
import type { Value } from '../store/postgres/database.ts'
import { timers } from '../timers.ts'
import { isReplacedElsewhere } from '../delivery/shared-clock.ts'
import type { Slots } from '../delivery/slots.ts'
import type { Parts } from './parts.ts'

/** Milliseconds that an instance uses a key without another look at the database. A revoked key ends within 2 s. */
const KEY_MS = 1_000
/** Lifetime of an inspector session in a sandbox, which outlives its instances: seven days. */
const SESSION_MS = 7 * DAY_MS

type Sharing = Pick<AppParts, 'keyCache' | 'limitDatabase'> & {
  sessions: Omit<Parameters<typeof createSessions>[0], 'newToken'>
}

/** Returns the parts of HTTP that differ when several instances share the store. */
export function sharingOf({
  values,
  shared,
  sandbox: schema = texts.sandbox,
}: Pick<Parts, 'values' | 'shared' | 'sandbox'>): Sharing {
  if (shared === undefined) return { sessions: { values, measure: timers.elapsed } }
  const query = async ({ text, values: given }: { text: string; values: readonly unknown[] }) => ({
    rows: await shared.query(text, given as readonly Value[]),
  })
  return {
    sessions: { values, measure: timers.now, lifetimeMs: SESSION_MS },
    keyCache: { lifetimeMs: KEY_MS, measure: timers.elapsed },
    limitDatabase: { schema, query },
  }
}

/** Milliseconds until every instance that reaches the database knows a change; it looks four times a second. */
const KNOWN_MS = 500

/** Returns a function that resolves when the other instances know the changes so far; `undefined` without any. */
export function untilKnownElsewhere({ shared }: Pick<Parts, 'shared'>): (() => Promise<void>) | undefined {
  return shared && (() => timers.sleep(KNOWN_MS))
}

/** Pauses attempts while another instance replaces all records: the clock is set first, so old retries would look due. */
export function pausedByReplacement(
  slots: Slots,
  { values, instance }: Pick<Parts, 'values' | 'instance'>,
): Slots {
  const isPaused = () => isReplacedElsewhere(values, instance)
  return {
    ...slots,
    owns: (endpoint) => !isPaused() && slots.owns(endpoint),
    begin: (endpoint) => (isPaused() ? undefined : slots.begin(endpoint)),
    onChange(listener) {
      let wasPaused = isPaused()
      const unsubscribe = values.onChange(() => {
        const hasEnded = wasPaused && !isPaused()
        wasPaused = isPaused()
        if (hasEnded) listener()
      })
      const unsubscribeSlots = slots.onChange(listener)
      return () => {
        unsubscribe()
        unsubscribeSlots()
      }
    },
  }
}

/** Key of the value with the settings of the instance that started last. */
const SETTINGS = 'settings'

/**
 * Calls `onNotice` for each setting that differs from the one of the instance that started before. Such instances would
 * answer the same request in different ways.
 */
export async function compareSettings({
  values,
  shared,
  onNotice,
  ...given
}: Omit<Parts, 'listening'>): Promise<void> {
  if (shared === undefined) return
  const mine: Record<string, string> = {
    '--service-name': given.serviceName,
    '--order-by': given.orderBy,
    '--strict': String(given.strict),
    '--disable-after': String(given.disableAfter),
    '--sign-time': given.signTime,
    // An instance without the key cannot read the secrets that another one encrypts.
    TABWIRE_STORE_KEY: given.storeKey === undefined ? 'not set' : 'set',
  }
  const before = await values.update(SETTINGS, (value) => ({
    value: { ...mine },
    reply: (value ?? mine) as Readonly<Record<string, string>>,
  }))
  for (const [name, value] of Object.entries(mine))
    if (before[name] !== undefined && before[name] !== value)
      onNotice(
        `${name} is ${value} at this instance, and ${before[name]} at the instance of the sandbox that started before. Start all instances with the same value.`,
      )
}

/** Returns the newest id of the stored records except locations; `undefined` when there are none. */
export async function newestIdIn(store: Pick<Store, 'list'>): Promise<string | undefined> {
  const newest = stateCollections.map(
    async (name) => [name, (await store.list(name, { limit: 1 })).data] as const,
  )
  return newestId(Object.fromEntries(await Promise.all(newest)) as unknown as Parameters<typeof newestId>[0])
}

/** Key of the value that says after which id new ones start. */
const RESTART = 'restart'

interface Restart {
  /** Number of replacements so far. */
  count: number
  after: string | null
}

const NONE: Restart = { count: 0, after: null }

/**
 * Makes new identifiers sort after the newest record once all records are replaced, at every instance. An instance that
 * starts later applies the newest replacement at its start.
 */
export function createRestarts(
  service: Pick<Service, 'everything' | 'onCommit'>,
  { values, shared, restartAfter }: Pick<Parts, 'values' | 'shared' | 'restartAfter'>,
) {
  const announced = () => (values.get(RESTART) ?? NONE) as object as Restart
  let applied = 0
  /** Newest id of the records that replace all others. Used without a shared store. */
  let newestOfNext: string | undefined
  function apply(): void {
    const { count, after } = announced()
    if (count > applied) restartAfter(after ?? undefined)
    applied = count
  }
  apply()
  // Once the records are durable: after a failed replacement, identifiers continue.
  service.onCommit((_writes, kind) => {
    if (kind !== 'replacement') return
    if (shared === undefined) restartAfter(newestOfNext)
    else apply()
  })
  return {
    /**
     * Must be called before the records are replaced by the result of `make`, so that the other instances know it. Resolves
     * with a function that takes it back.
     */
    async announce(make: (all: Everything) => Everything): Promise<() => Promise<void>> {
      if (shared === undefined) return async () => {}
      const after = newestId(make(await service.everything())) ?? null
      const before = await values.update(RESTART, (value) => {
        const earlier = (value ?? NONE) as object as Restart
        return { value: { count: earlier.count + 1, after }, reply: earlier }
      })
      return () =>
        values.update(RESTART, (value) => {
          const now = (value ?? NONE) as object as Restart
          const isOwn = now.count === before.count + 1
          // Counted as another one: instances that have applied it apply this, too.
          return {
            value: isOwn ? { count: now.count + 1, after: before.after } : { ...now },
            reply: undefined,
          }
        })
    },
    /** Notes the newest id of records that are about to replace all others. */
    prepare(newest: string | undefined): void {
      newestOfNext = newest
    },
  }
}
