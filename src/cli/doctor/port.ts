import { createServer } from 'node:net'
import { request } from 'undici'
import { readRun } from '../../data-directory.ts'
import type { Finding, Surroundings } from './finding.ts'

const HOST = '127.0.0.1'
/** How long whoever has the port may take to say who it is, in milliseconds. */
const PATIENCE_MS = 2_000

/** Whether `tabwire start` gets the port that it takes unless told otherwise, and who has it if not. */
export async function checkPort({ port, directory }: Surroundings): Promise<Finding> {
  const code = await whyNotFree(port)
  if (code === undefined)
    return found('good', port === 0 ? 'Any free port will be taken.' : `Port ${port} on ${HOST} is free.`)
  if (code !== 'EADDRINUSE')
    return found('note', `Port ${port} on ${HOST} cannot be listened on (${code}).`, OTHER_PORT)
  const run = await readRun(directory)
  if (run !== undefined && new URL(run.url).port === String(port))
    return found('good', `Port ${port} on ${HOST} is that of the service on this data directory.`)
  const who = (await isTabwire(port)) ? 'another Tabwire' : 'another program'
  return found('note', `Port ${port} on ${HOST} is taken by ${who}.`, OTHER_PORT)
}

const OTHER_PORT = 'Take any free one: tabwire start --port 0'

function found(level: Finding['level'], message: string, advice?: string): Finding {
  return { check: 'port', level, message, ...(advice !== undefined && { advice }) }
}

function whyNotFree(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'unknown'))
    server.listen({ port, host: HOST, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}

async function isTabwire(port: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const { body, headers } = await request(`http://${HOST}:${port}/_sim/health`, { signal })
    await body.dump()
    return headers['x-request-id'] !== undefined
  } catch {
    return false
  }
}
