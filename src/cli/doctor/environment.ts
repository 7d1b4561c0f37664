import { checkAuthority } from './authority.ts'
import type { Finding, Surroundings } from './finding.ts'
import { checkNode } from './node.ts'
import { checkReceiver } from './receiver.ts'
import { createServer } from 'node:net'
import { isTabwire } from '../running-service.ts'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { moment } from '../render/text.ts'
import { openEnvFile } from '../files/env-file.ts'
import { CommandError } from '../errors.ts'

type Check = (around: Surroundings) => Finding | Promise<Finding> | AsyncIterable<Finding>

/** In the order in which they are told. */
const checks: readonly Check[] = [
  () => checkNode(),
  checkPort,
  checkClock,
  checkEnvFile,
  checkAuthority,
  checkReceiver,
]

/** Looks at everything around the data directory, and changes nothing. */
export async function checkSurroundings(around: Surroundings): Promise<Finding[]> {
  const found: Finding[] = []
  for (const check of checks) {
    const result = await check(around)
    if (Symbol.asyncIterator in result) for await (const one of result) found.push(one)
    else found.push(result)
  }
  return found
}

type Where = Pick<Surroundings, 'host' | 'port'>

/** Whether `tabwire start` gets the port that it would listen on, and why not. */
export async function checkPort({ host, port, tryPort, running }: Surroundings): Promise<Finding> {
  if (running !== undefined)
    return found('good', `Tabwire runs here at ${running.url} (pid ${running.pid}) and answers.`)
  const refused = await tryPort({ host, port }).then(
    () => false,
    () => true,
  )
  if (refused) return found('bad', await reasonOf({ host, port }), ADVICE)
  return found('good', port === 0 ? `A port on ${host} is free.` : `Port ${port} on ${host} is free.`)
}

const ADVICE = 'Choose another with --port (0 = any free port), or another address with --host.'

function found(level: Finding['level'], message: string, advice?: string): Finding {
  return { check: 'port', level, message, ...(advice !== undefined && { advice }) }
}

async function reasonOf(where: Where): Promise<string> {
  const { host, port } = where
  const code = await whyNotFree(where)
  if (code === undefined) return `Port ${port} is blocked by browsers, so start does not use it.`
  if (code === 'EADDRINUSE') return `Port ${port} on ${host} is taken by ${await whoHas(where)}.`
  if (code === 'EACCES') return `Port ${port} on ${host} needs more rights than this user has.`
  if (code === 'EADDRNOTAVAIL') return `${host} is not an address of this machine.`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `${host} has no address (${code}).`
  return `Port ${port} on ${host} cannot be opened (${code}).`
}

/** The system's code for why a port cannot be had; `undefined` when it can. */
function whyNotFree({ host, port }: Where): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'unknown'))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}

async function whoHas({ host, port }: Where): Promise<string> {
  const name = host.includes(':') ? `[${host}]` : host
  return (await isTabwire(`http://${name}:${port}`)) ? 'another Tabwire' : 'another program'
}

/** File systems round, and machines differ a little, in milliseconds. */
const TOLERANCE_MS = 60_000

/**
 * Whether the clock can be right. Offline there is one thing to tell it by: nothing was written in the future. That it is
 * ahead cannot be told in this way, which is said.
 */
export async function checkClock({ directory, now }: Surroundings): Promise<Finding> {
  const time = `${moment(now.toISOString())} UTC`
  const newest = await newestIn(directory)
  if (newest !== undefined && newest.at.getTime() > now.getTime() + TOLERANCE_MS)
    return {
      check: 'clock',
      level: 'note',
      message: `The clock says ${time}, but ${newest.name} was written at ${moment(newest.at.toISOString())}: it is behind, or was ahead then.`,
      advice:
        'Set it by the network. Signatures are dated by it, and receivers refuse those of another time.',
    }
  const compared =
    newest === undefined
      ? 'there is nothing here to compare it with'
      : 'later than all that was written here; whether it is ahead cannot be told offline'
  return { check: 'clock', level: 'good', message: `The clock says ${time}; ${compared}.` }
}

/** The file of the data directory that was written last. */
async function newestIn(directory: string): Promise<{ name: string; at: Date } | undefined> {
  const names = await readdir(directory).catch((): string[] => [])
  const files = await Promise.all(
    names.map(async (name) => ({
      name,
      at: (await stat(join(directory, name)).catch(() => undefined))?.mtime,
    })),
  )
  return files
    .flatMap(({ name, at }) => (at === undefined ? [] : [{ name, at }]))
    .sort((one, other) => other.at.getTime() - one.at.getTime())[0]
}

/** Whether a start could write the file that `--env-file` names. */
async function* checkEnvFile({ envFile }: Surroundings): AsyncGenerator<Finding, void> {
  if (envFile === undefined) return
  try {
    await openEnvFile(envFile)
    yield { check: 'env file', level: 'good', message: `${envFile} can be written.` }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    yield { check: 'env file', level: 'bad', message: error.message }
  }
}
