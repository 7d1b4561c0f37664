import { readRun, writeRun } from '../../data-directory.ts'
import { isAlive } from '../doctor/running-service.ts'

/** What the commands need to know of a service that runs. */
interface Running {
  url: string
  apiKey: string
  ca?: string | undefined
}

/** Tells the commands where the service is, unless another one runs on this directory and is told of already. */
export async function announce(
  { url, apiKey, ca }: Running,
  directory: string,
  inMemory: boolean,
): Promise<void> {
  const other = await readRun(directory)
  if (other !== undefined && other.pid !== process.pid && isAlive(other.pid)) return
  await writeRun(directory, {
    url,
    pid: process.pid,
    started_at: new Date().toISOString(),
    ...(inMemory ? { api_key: apiKey } : {}),
    ...(ca === undefined ? {} : { ca }),
  })
}
