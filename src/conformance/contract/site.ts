import { TRIAL_PREFIX } from '../../model/trial-check.ts'
import { field, NoAnswer, type Answer, type Ask } from './ask.ts'
import { Broken, must, NotChecked, type Need } from './seen.ts'
import type { Hook, Hooks } from './hooks.ts'

/** A webhook endpoint that was registered for this check, with where its deliveries arrive. */
export interface Registered {
  id: string
  secret: string
  hook: Hook
  answer: Answer
}

/** All that the cases work with: the implementation, a receiver, and fresh names. */
export interface Site {
  ask: Ask
  /** The controls of a simulator, under `/_sim`. */
  sim: Ask
  /** The name in the signature header. */
  serviceName: string
  /** A key without write scope; `undefined` when there is none. */
  limitedKey: string | undefined
  hooks: Hooks
  lacks(need: Need): boolean
  /** The path of a check that nobody has pushed. */
  freshCheck(): string
  /** Registers a hook for these event types. @throws Broken when that is refused. */
  register(...eventTypes: readonly string[]): Promise<Registered>
  /** Does a thing once for all cases that look at it; the first of them fails when it does, and no other is checked. */
  once<T>(name: string, work: () => Promise<T>): Promise<T>
  /** Takes away what was registered, where that is possible. */
  cleanUp(): Promise<void>
}

interface Parts extends Pick<Site, 'ask' | 'sim' | 'serviceName' | 'hooks'> {
  limitedKey: string | undefined
  /** Makes the names of this run fresh ones. */
  token: string
}

/** Looks what the implementation can do beside the specification. */
export async function openSite(parts: Parts): Promise<Site> {
  const { ask, sim, hooks, token } = parts
  const health = await sim('GET', '/health').catch(() => undefined)
  const isSimulator = field(health?.json, 'status') === 'ok'
  const clock = isSimulator && typeof field((await sim('GET', '/clock')).json, 'now') === 'string'
  const limited = parts.limitedKey === undefined && isSimulator ? await makeKey(sim) : undefined
  const limitedKey = parts.limitedKey ?? limited?.key
  const known = new Map<string, Promise<unknown>>()
  const registered: string[] = []
  let checks = 0
  return {
    ...parts,
    limitedKey,
    lacks: (need) => ({ guests: !isSimulator, clock: !clock, 'limited key': limitedKey === undefined })[need],
    freshCheck: () => `/checks/external/${TRIAL_PREFIX}${token}-${++checks}`,
    async register(...event_types) {
      const hook = hooks.open()
      const answer = await ask('POST', '/webhook-endpoints', { json: { url: hook.url, event_types } })
      must(
        isSuccess(answer),
        `Registering ${hook.url} for ${event_types.join()} was answered ${answer.status}.`,
      )
      const id = field(answer.json, 'id')
      const named = typeof id === 'string' || typeof id === 'number'
      must(named, 'The answer to a registration has no id.')
      registered.push(String(id))
      return { id: String(id), secret: /whsec_[^"\s]+/.exec(answer.text)?.[0] ?? '', hook, answer }
    },
    async once<T>(name: string, work: () => Promise<T>) {
      const before = known.get(name) as Promise<T> | undefined
      if (before !== undefined) return before.catch(notChecked)
      const doing = work()
      known.set(name, doing)
      return doing
    },
    async cleanUp() {
      if (!isSimulator) return
      for (const id of registered) await sim('DELETE', `/webhook-endpoints/${encodeURIComponent(id)}`)
      if (limited !== undefined) await sim('DELETE', `/keys/${encodeURIComponent(limited.id)}`)
    },
  }
}

/** What is broken for one case cannot be looked at by the next. */
function notChecked(error: unknown): never {
  throw error instanceof Broken || error instanceof NoAnswer ? new NotChecked(error.message) : error
}

async function makeKey(sim: Ask): Promise<{ id: string; key: string } | undefined> {
  const { json } = await sim('POST', '/keys', { json: { name: 'contract check', scopes: ['read'] } })
  const [id, key] = [field(json, 'id'), field(json, 'api_key')]
  return typeof id === 'string' && typeof key === 'string' ? { id, key } : undefined
}

export function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status < 300
}

/** @throws NotChecked when the service cannot be expected to reach this receiver. */
export function arrived<T>({ hooks }: Pick<Site, 'hooks'>, arrival: T | undefined, what: string): T {
  if (arrival !== undefined) return arrival
  if (hooks.distrusted() > 0)
    throw new NotChecked('The service does not trust the certificate of this receiver: see --receiver-url.')
  throw new Broken(`${what} has not arrived.`)
}
