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
      text += `{"collection":"deliveries","put":${ownText(write.put)},"like":${quoted(model.id)}}`
    else if (first !== undefined && write.collection === 'events' && tellsOf(write.put, first.text))
      text += `{"collection":"events","put":${headText(write.put)},"data_of":${quoted(first.id)}}`
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

/** Whether two deliveries differ in what is their own alone, and neither was attempted. */
function isLike(one: Delivery, other: Delivery): boolean {
  return (
    one.event_id === other.event_id &&
    one.event_type === other.event_type &&
    one.external_check_id === other.external_check_id &&
    one.status === other.status &&
    one.attempts.length === 0 &&
    other.attempts.length === 0 &&
    one.next_attempt_at === other.next_attempt_at &&
    one.dead_reason === other.dead_reason &&
    one.held === other.held &&
    one.signed_at === other.signed_at
  )
}

function ownText({ id, endpoint_id }: Delivery): string {
  return `{"id":${quoted(id)},"endpoint_id":${quoted(endpoint_id)}}`
}

/** An identifier as JSON. Those that we make need no escape; who edits the snapshot by hand may think of others. */
function quoted(id: string): string {
  return /^\w+$/.test(id) ? `"${id}"` : JSON.stringify(id)
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
