import { createServer } from 'node:net'
import type { Finding, Surroundings } from './finding.ts'
import { isTabwire } from './running-service.ts'

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
