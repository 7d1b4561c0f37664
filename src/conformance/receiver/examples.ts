import { readFile } from 'node:fs/promises'
import { eventTypes, type Envelope } from '../../model/event.ts'
import { packageFile } from '../../package-file.ts'

export type Examples = ReadonlyMap<Envelope['type'], Envelope>

/** An example of each event and of the ping, from `fixtures/events`. */
export async function readExamples(): Promise<Examples> {
  const read = async (type: Envelope['type']) => {
    const text = await readFile(packageFile(`fixtures/events/${type}.json`), 'utf8')
    return [type, JSON.parse(text) as Envelope] as const
  }
  return new Map(await Promise.all([...eventTypes, 'ping' as const].map(read)))
}
