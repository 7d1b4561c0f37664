import { readFile } from 'node:fs/promises'
import { eventTypes, type Envelope, type EventType } from '../../model/event.ts'

/** An example of each event, from `fixtures/events`. */
export async function readExamples(): Promise<ReadonlyMap<EventType, Envelope>> {
  const read = async (type: EventType) => {
    const file = new URL(`../../../fixtures/events/${type}.json`, import.meta.url)
    return [type, JSON.parse(await readFile(file, 'utf8')) as Envelope] as const
  }
  return new Map(await Promise.all(eventTypes.map(read)))
}
