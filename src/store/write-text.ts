import { envelopeText, type StoredEvent } from '../model/event.ts'
import { put, type Write } from '../model/records.ts'
import { headText, recordFrom, recordText } from './record-text.ts'
import { collectionNames } from './tables.ts'

/** A write as the journal holds it: an event names the record that is its data, if the transaction begins with that one. */
type WrittenWrite = Write & { data_of?: string }

/** The writes of one transaction as the journal holds them, separated by commas. */
export function writesText(writes: readonly Write[]): string {
  let text = ''
  let first: { id: string; text: string } | undefined
  for (const [index, write] of writes.entries()) {
    if (index > 0) text += ','
    if (!('put' in write)) text += JSON.stringify(write)
    else if (first !== undefined && write.collection === 'events' && tellsOf(write.put, first.text))
      text += `{"collection":"events","put":${headText(write.put)},"data_of":"${first.id}"}`
    else {
      const record = recordText(write.collection, write.put)
      if (index === 0) first = { id: write.put.id, text: record }
      text += `{"collection":"${write.collection}","put":${record}}`
    }
  }
  return text
}

/** Whether an event's body is what it is made of again, with this text of its data. */
function tellsOf(event: StoredEvent, data: string): boolean {
  return event.body === envelopeText(event, data)
}

/** Makes writes of a text of the journal, or tells which of them is none that this version knows. */
export function readWrites(text: string): { writes: Write[] } | { stranger: Write } {
  const written = JSON.parse(text) as WrittenWrite[]
  const writes: Write[] = []
  for (const one of written) {
    const write = readWrite(one, written, text)
    if (write === undefined) return { stranger: one }
    writes.push(write)
  }
  return { writes }
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
