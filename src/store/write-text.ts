import type { StoredEvent } from '../model/event.ts'
import { put, type Write } from '../model/records.ts'
import { headText, recordFrom, recordText } from './record-text.ts'
import { collectionNames } from './tables.ts'

/** A write as the journal holds it: an event may name the record that is its data, instead of repeating it. */
type WrittenWrite = Write & { data_of?: string }

/** The writes of one transaction as the journal holds them, separated by commas. */
export function writesText(writes: readonly Write[]): string {
  let text = ''
  let first: { id: string; text: string } | undefined
  for (const write of writes) {
    if (text !== '') text += ','
    if (!('put' in write)) text += JSON.stringify(write)
    else if (first !== undefined && write.collection === 'events' && tellsOf(write.put, first.text))
      text += `{"collection":"events","put":${headText(write.put)},"data_of":"${first.id}"}`
    else {
      const record = recordText(write.collection, write.put)
      first ??= { id: write.put.id, text: record }
      text += `{"collection":"${write.collection}","put":${record}}`
    }
  }
  return text
}

/** Whether an event's body is what it is made of again, with this text of its data. */
function tellsOf({ id, type, created_at, body }: StoredEvent, data: string): boolean {
  return body === `{"id":"${id}","type":"${type}","created_at":"${created_at}","data":${data}}`
}

/** Makes writes of what the journal held, or tells which of them is none that this version knows. */
export function readWrites(written: readonly WrittenWrite[]): { writes: Write[] } | { stranger: Write } {
  const writes: Write[] = []
  for (const one of written) {
    const write = readWrite(one, written)
    if (write === undefined) return { stranger: one }
    writes.push(write)
  }
  return { writes }
}

function readWrite(write: WrittenWrite, all: readonly WrittenWrite[]): Write | undefined {
  const names: readonly string[] = collectionNames
  if (!names.includes(write.collection)) return undefined
  if (!('put' in write)) return typeof write.remove === 'string' ? write : undefined
  if (write.data_of === undefined)
    return recordFrom(write.collection, write.put) === undefined ? undefined : write
  const data = all.find((other) => 'put' in other && other.put.id === write.data_of)
  if (data === undefined || !('put' in data) || write.collection !== 'events') return undefined
  const { id, type, created_at } = write.put
  return put('events', { ...write.put, body: JSON.stringify({ id, type, created_at, data: data.put }) })
}
