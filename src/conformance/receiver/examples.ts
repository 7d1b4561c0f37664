import { readFile } from 'node:fs/promises'
import { eventTypes, type Envelope, type EventType } from '../../model/event.ts'
import { packageFile } from '../../package-file.ts'

/** An example of each event, from `fixtures/events`. */
export async function readExamples(): Promise<ReadonlyMap<EventType, Envelope>> {
  const read = async (type: EventType) => {
    const text = await readFile(packageFile(`fixtures/events/${type}.json`), 'utf8')
    return [type, JSON.parse(text) as Envelope] as const
  }
  return new Map(await Promise.all(eventTypes.map(read)))
}
