/** A value that JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** Result of a change: the new value, `undefined` to remove it, and a reply for the caller. */
interface ValueChange<Reply> {
  value: Json | undefined
  reply: Reply
}

/**
 * Values of the service that are not records: clock, faults, sessions. With a shared store, all instances have the same
 * ones; else they live in this process.
 */
export interface SharedValues {
  /** Returns the newest value that this process knows. In a shared store it is at most a second old. */
  get(key: string): Json | undefined
  /**
   * Replaces a value in one transaction. `change` is pure; it may be called again.
   * @throws Refusal `storage_unavailable`; then nothing changes.
   */
  update<Reply>(key: string, change: (value: Json | undefined) => ValueChange<Reply>): Promise<Reply>
  /** Calls `listener` for each changed value, once it is durable. The result removes it. */
  onChange(listener: ValueListener): () => void
}

export type ValueListener = (key: string, value: Json | undefined) => void

/** Values of a single process. They end with it. */
export function createLocalValues(): SharedValues {
  const values = new Map<string, Json>()
  const listeners = new Set<ValueListener>()
  return {
    get: (key) => values.get(key),
    async update(key, change) {
      const { value, reply } = change(values.get(key))
      if (value === undefined) values.delete(key)
      else values.set(key, value)
      for (const listener of listeners) listener(key, value)
      return reply
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
