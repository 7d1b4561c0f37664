import type { Delivery } from '../../model/delivery.ts'
import type { Write } from '../../model/records.ts'

/** Deliveries that differ from another one only in id and endpoint, as two lists of equal length. */
export interface Others {
  ids: readonly string[]
  endpoint_ids: readonly string[]
}

/**
 * Unattempted deliveries of one event, in order of id, which differ only in id and endpoint. Immutable. Stored as one until
 * one of them changes, so that an event for a hundred endpoints does not cost a hundred records.
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

  /** Creates a fan-out from writes of which each `isSameFanOut` as the one before. */
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

  /** Returns the parts before and after the delivery with this id, without empty parts. */
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

  /** Returns the entries of the deliveries in the due index. */
  waiting(): Waiting[] {
    return this.#ids.map((id, place) => new Waiting(id, this.#endpoints[place] ?? '', this.#like))
  }

  /** Returns the first delivery, and the ids and endpoints of the others. */
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

  /** Returns the place of the first delivery whose id is not before this one. */
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

/** Entry of a delivery in the due index; the delivery is created when it is read. */
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

/** Returns the delivery of an entry of the due index. */
export function deliveryOf(waiting: Delivery | Waiting): Delivery {
  return waiting instanceof Waiting ? waiting.delivery : waiting
}

function copyWith(like: Delivery, id: string, endpoint_id: string): Delivery {
  return { ...like, id, endpoint_id }
}

/** A write, or a fan-out in place of several writes. */
export type GroupedWrite = Write | FanOut

/** Groups consecutive writes of one fan-out; keeps the order. */
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

/** True when both writes put unattempted deliveries, in order of id, that differ only in id and endpoint. */
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
