import { lookup } from 'node:dns/promises'
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls, rootCertificates } from 'node:tls'
import { bareHost, isLoopbackName } from '../../model/loopback.ts'
import type { Finding, Surroundings } from './finding.ts'
import { localAuthority } from './local-authority.ts'
import { askReceiver } from './receiver-answer.ts'
import { certificateAdvice } from './receiver-certificate.ts'

/** As long as a delivery may take (specification section 8), in milliseconds. */
const PATIENCE_MS = 10_000

/** The way of a delivery to a receiver, step by step, up to the first that cannot be taken. */
export async function* checkReceiver({ receiver, ...around }: Surroundings): AsyncGenerator<Finding, void> {
  if (receiver === undefined) return
  const host = bareHost(receiver)
  const port = Number(receiver.port) || (receiver.protocol === 'https:' ? 443 : 80)
  const addresses = await lookup(host, { all: true }).catch(codeOf)
  if (typeof addresses === 'string') {
    yield found('bad', 'name', `${host} has no address (${addresses}).`, NAME)
    return
  }
  yield found('good', 'name', `${host} is ${addresses.map(({ address }) => address).join(', ')}.`)
  const refused = await settled(connectPlain({ host, port }), 'connect')
  if (refused !== undefined) {
    yield found(
      'bad',
      'connection',
      `${host} takes no connection at port ${port} (${refused}).`,
      connection(refused),
    )
    return
  }
  yield found('good', 'connection', `${host} takes connections at port ${port}.`)
  const ca = [...rootCertificates, ...around.ca, ...(await localAuthority(around.directory))]
  if (receiver.protocol === 'http:') yield plainHttp(host)
  else {
    const servername = /^[\d.]+$|:/.test(host) ? '' : host
    const reason = await settled(connectTls({ host, port, servername, ca }), 'secureConnect')
    if (reason !== undefined) {
      yield found('bad', 'certificate', ...certificateAdvice(reason, host))
      return
    }
    yield found('good', 'certificate', `Its certificate is trusted, and for ${host}.`)
  }
  yield* askReceiver(receiver, ca, around.now)
}

const NAME = 'Correct the address, or the name server; for this machine take localhost.'

function connection(code: string): string {
  if (code === 'ECONNREFUSED') return 'Start the receiver, or correct the port.'
  return 'Look for a firewall on the way, or a receiver that listens on another address.'
}

function plainHttp(host: string): Finding {
  if (isLoopbackName(host))
    return found(
      'note',
      'certificate',
      'It is on plain HTTP, which the real service does not take.',
      HTTP_HERE,
    )
  return found(
    'bad',
    'certificate',
    'It is on plain HTTP, and not on this machine: no endpoint can be there.',
    HTTPS,
  )
}

const HTTP_HERE =
  'tabwire listen --forward-to passes deliveries on to it; or start with --allow-http-loopback.'
const HTTPS = 'Give it a certificate, and register it as https:.'

function found(level: Finding['level'], step: string, message: string, advice?: string): Finding {
  return { check: `receiver ${step}`, level, message, ...(advice !== undefined && { advice }) }
}

function codeOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code ?? message
}

/** `undefined` once the event has come, else why it did not. The connection is closed in any case. */
function settled(socket: Socket, event: 'connect' | 'secureConnect'): Promise<string | undefined> {
  return new Promise<string | undefined>((resolve) => {
    socket.setTimeout(PATIENCE_MS, () => resolve('timeout'))
    socket.once(event, () => resolve(undefined)).once('error', (error) => resolve(codeOf(error)))
  }).finally(() => socket.destroy())
}
