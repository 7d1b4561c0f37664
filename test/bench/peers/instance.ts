import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { API_KEY, cleanEnvironment } from '../processes.ts'
import { storedCheck } from './peer.ts'

/** A program that has given its first answer. */
export interface Instance {
  url: string
  /** Milliseconds from its start to that answer. */
  milliseconds: number
  kill(): Promise<void>
}

const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
/** Longest wait for a response. */
const TIMEOUT_MS = 60_000

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Starts a program and asks for this path until it answers with success. @throws when it ends before, or never does. */
export async function startInstance(
  node: string,
  args: readonly string[],
  port: number,
  path: string,
): Promise<Instance> {
  const started = performance.now()
  const env = { ...cleanEnvironment(), SCARF_ANALYTICS: 'false' }
  const child = spawn(node, args, { stdio: 'ignore', env })
  const ended = once(child, 'close')
  const url = `http://127.0.0.1:${port}`
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  while (!(await answers(url + path))) {
    const isGone = child.exitCode !== null || child.signalCode !== null
    if (isGone) throw new Error('it ended before it answered')
    if (performance.now() - started < TIMEOUT_MS) continue
    await kill()
    throw new Error(`it gave no answer in ${TIMEOUT_MS / 1000} s`)
  }
  return { url, milliseconds: performance.now() - started, kill }
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) })
    await response.text()
    if (response.ok) return true
  } catch {
    // Not yet there.
  }
  await new Promise((resolve) => setTimeout(resolve, 5))
  return false
}

/** Writes one check; resolves when that is acknowledged. */
export async function write(url: string, revision: number): Promise<void> {
  const body = JSON.stringify({ ...storedCheck, revision })
  const response = await fetch(url, { method: 'PUT', headers, body })
  await response.text()
  if (!response.ok) throw new Error(`it answered ${response.status} to a write`)
}

/** The revision of a check as it is stored. */
export async function revisionAt(url: string): Promise<unknown> {
  const response = await fetch(url, { headers })
  return ((await response.json()) as { revision?: unknown }).revision
}
