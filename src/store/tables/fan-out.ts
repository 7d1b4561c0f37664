import type { Delivery } from '../../model/delivery.ts'
import type { Write } from '../../model/records.ts'

/** Deliveries that differ from another one in their id and endpoint alone: two lists, equally long. */
export interface Others {
  ids: readonly string[]
  endpoint_ids: readonly string[]
}

/**
 * Deliveries of one event as they were made, in the order of their identifiers: they differ in these and their endpoint
 * alone. Kept as one until something becomes of one of them, so that an event for a hundred endpoints, of which most may
 * be slow, does not cost a hundred records. It never changes.
 */
export class FanOut {
  readonly #like: Delivery
  readonly #ids: readonly string[]
  readonly #endpoints: readonly string[]

  private constructor(template: Delivery, ids: readonly string[], endpoints: readonly string[]) {
    this.#like = template
    this.#ids = ids
    this.#endpoints = endpoints
  }

  /** Of writes of which each `goesOn` from the one before it. */
  static of(writes: readonly Write[]): FanOut {
    const ids: string[] = []
    const endpoints: string[] = []
    let like: Delivery | undefined
    for (const write of writes) {
      const delivery = deliveryIn(write)
      if (delivery === undefined) continue
      like ??= delivery
      ids.push(delivery.id)
      endpoints.push(delivery.endpoint_id)
    }
    if (like === undefined) throw new RangeError('A fan-out of none.')
    return new FanOut(like, ids, endpoints)
  }

  get eventId(): string {
    return this.#like.event_id
  }

  get ids(): readonly string[] {
    return this.#ids
  }

  get firstId(): string {
    return this.#ids[0] ?? ''
  }

  get lastId(): string {
    return this.#ids.at(-1) ?? ''
  }

  find(id: string): Delivery | undefined {
    const place = this.#placeOf(id)
    return this.#ids[place] === id ? this.#at(place) : undefined
  }

  /** What comes before and what comes after the delivery with this id, or where it would be; nothing is left out. */
  around(id: string): FanOut[] {
    const place = this.#placeOf(id)
    const next = this.#ids[place] === id ? place + 1 : place
    return [this.#part(0, place), this.#part(next)].filter(({ ids }) => ids.length > 0)
  }

  *[Symbol.iterator](): Generator<Delivery, void> {
    for (let place = 0; place < this.#ids.length; place++) yield this.#at(place)
  }

  *backwards(): Generator<Delivery, void> {
    for (let place = this.#ids.length - 1; place >= 0; place--) yield this.#at(place)
  }

  /** What stands for each delivery in the queue of its endpoint. */
  waiting(): Waiting[] {
    return this.#ids.map((id, place) => new Waiting(id, this.#endpoints[place] ?? '', this.#like))
  }

  /** The first of them whole, of the further ones what is their own. */
  written(): { first: Delivery; others: Others } {
    return {
      first: this.#at(0),
      others: { ids: this.#ids.slice(1), endpoint_ids: this.#endpoints.slice(1) },
    }
  }

  #at(place: number): Delivery {
    return copyWith(this.#like, this.#ids[place] ?? '', this.#endpoints[place] ?? '')
  }

  #part(from: number, to?: number): FanOut {
    return new FanOut(this.#like, this.#ids.slice(from, to), this.#endpoints.slice(from, to))
  }

  /** Of the first whose id is not before this one. */
  #placeOf(id: string): number {
    let low = 0
    let high = this.#ids.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#ids[middle] ?? '') < id) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** A delivery in the queue of its endpoint, made when its turn has come. */
export class Waiting {
  readonly id: string
  readonly endpoint_id: string
  readonly #like: Delivery

  constructor(id: string, endpoint_id: string, like: Delivery) {
    this.id = id
    this.endpoint_id = endpoint_id
    this.#like = like
  }

  get status() {
    return this.#like.status
  }

  get next_attempt_at() {
    return this.#like.next_attempt_at
  }

  get attempts() {
    return this.#like.attempts
  }

  get delivery(): Delivery {
    return copyWith(this.#like, this.id, this.endpoint_id)
  }
}

/** What waits in a queue, as a record. */
export function deliveryOf(waiting: Delivery | Waiting): Delivery {
  return waiting instanceof Waiting ? waiting.delivery : waiting
}

function copyWith(like: Delivery, id: string, endpoint_id: string): Delivery {
  return { ...like, id, endpoint_id }
}

/** A write, or several of which each puts a delivery of the same fan-out. */
export type GroupedWrite = Write | FanOut

/** The writes in their order, those of a fan-out together. */
export function groupFanOuts(writes: readonly Write[]): readonly GroupedWrite[] {
  const fanned: GroupedWrite[] = []
  let end = 0
  for (const [start, write] of writes.entries()) {
    if (start < end) continue
    end = start + 1
    while (isSameFanOut(writes[end - 1], writes[end])) end += 1
    fanned.push(end - start === 1 ? write : FanOut.of(writes.slice(start, end)))
  }
  return fanned
}

/**
 * Whether a write puts a delivery that comes after another one and is like it in all but id and endpoint, and nothing has
 * become of either.
 */
function isSameFanOut(write: Write | undefined, nextWrite: Write | undefined): boolean {
  const [one, next] = [deliveryIn(write), deliveryIn(nextWrite)]
  return (
    one !== undefined &&
    next !== undefined &&
    one.id < next.id &&
    one.event_id === next.event_id &&
    one.event_type === next.event_type &&
    one.external_check_id === next.external_check_id &&
    one.status === next.status &&
    one.attempts.length === 0 &&
    next.attempts.length === 0 &&
    one.next_attempt_at === next.next_attempt_at &&
    one.dead_reason === next.dead_reason &&
    one.held === next.held &&
    one.signed_at === next.signed_at
  )
}

function deliveryIn(write: Write | undefined): Delivery | undefined {
  return write?.collection === 'deliveries' && 'put' in write ? write.put : undefined
}
