import type { Delivery } from '../model/delivery.ts'
import { envelopeText, type StoredEvent } from '../model/event.ts'
import { put, type Write } from '../model/records.ts'
import { headText, recordFrom, recordText } from './record-text.ts'
import { collectionNames } from './tables.ts'

/**
 * A write as the journal holds it. An event names the record that is its data, if the transaction begins with that one. The
 * second and further deliveries of an event have only what is their own, and name the first.
 */
type WrittenWrite = Write & { data_of?: string; like?: string }

/** The writes of one transaction as the journal holds them, separated by commas. */
export function writesText(writes: readonly Write[]): string {
  let text = ''
  let first: { id: string; text: string } | undefined
  let model: Delivery | undefined
  for (const [index, write] of writes.entries()) {
    if (index > 0) text += ','
    if (!('put' in write)) text += JSON.stringify(write)
    else if (write.collection === 'deliveries' && model !== undefined && isLike(model, write.put))
      text += `{"collection":"deliveries","put":${ownText(write.put)},"like":"${model.id}"}`
    else if (first !== undefined && write.collection === 'events' && tellsOf(write.put, first.text))
      text += `{"collection":"events","put":${headText(write.put)},"data_of":"${first.id}"}`
    else {
      const record = recordText(write.collection, write.put)
      if (index === 0) first = { id: write.put.id, text: record }
      if (write.collection === 'deliveries') model = write.put
      text += `{"collection":"${write.collection}","put":${record}}`
    }
  }
  return text
}

/** Whether an event's body is what it is made of again, with this text of its data; looked at in place, not made. */
function tellsOf(event: StoredEvent, data: string): boolean {
  const around = envelopeText(event, '')
  const start = around.length - 1
  const { body } = event
  return (
    body.length === around.length + data.length &&
    body.startsWith(data, start) &&
    body.startsWith(around.slice(0, start)) &&
    body.endsWith('}')
  )
}

/** What the first deliveries of an event have in common. */
const common = Object.keys({
  event_id: true,
  event_type: true,
  external_check_id: true,
  status: true,
  attempts: true,
  next_attempt_at: true,
  dead_reason: true,
  held: true,
  signed_at: true,
} satisfies Record<Exclude<keyof Delivery, 'id' | 'endpoint_id'>, true>) as (keyof Delivery)[]

/** Whether one delivery was made as the other, for another endpoint, and neither was attempted. */
function isLike(model: Delivery, delivery: Delivery): boolean {
  if (model.attempts.length > 0 || delivery.attempts.length > 0) return false
  return common.every((name) => name === 'attempts' || model[name] === delivery[name])
}

function ownText({ id, endpoint_id }: Delivery): string {
  return `{"id":${JSON.stringify(id)},"endpoint_id":${JSON.stringify(endpoint_id)}}`
}

/** Makes writes of a text of the journal, or tells which of them is none that this version knows. */
export function readWrites(text: string): { writes: Write[] } | { stranger: Write } {
  const written = JSON.parse(text) as WrittenWrite[]
  const writes: Write[] = []
  let model: Delivery | undefined
  for (const one of written) {
    const write = one.like === undefined ? readWrite(one, written, text) : readLike(one, model)
    if (write === undefined) return { stranger: one }
    writes.push(write)
    if (one.like === undefined && 'put' in write && write.collection === 'deliveries') model = write.put
  }
  return { writes }
}

function readLike(write: WrittenWrite, model: Delivery | undefined): Write | undefined {
  if (!('put' in write) || write.collection !== 'deliveries' || model?.id !== write.like) return undefined
  if (recordFrom(write.collection, write.put) === undefined) return undefined
  return put('deliveries', { ...model, ...write.put })
}

function readWrite(write: WrittenWrite, all: readonly WrittenWrite[], text: string): Write | undefined {
  const names: readonly string[] = collectionNames
  if (!names.includes(write.collection)) return undefined
  if (!('put' in write)) return typeof write.remove === 'string' ? write : undefined
  if (write.data_of === undefined)
    return recordFrom(write.collection, write.put) === undefined ? undefined : write
  const [first] = all
  const isFirst = first !== undefined && 'put' in first && first.put.id === write.data_of
  if (!isFirst || write.collection !== 'events') return undefined
  return put('events', { ...write.put, body: envelopeText(write.put, firstRecordIn(text)) })
}

/** Cut out, since to write it anew takes as long as to read it. In JSON no text within can look like its end. */
function firstRecordIn(text: string): string {
  const start = text.indexOf('"put":') + '"put":'.length
  return text.slice(start, text.indexOf('},{"collection":"', start))
}
