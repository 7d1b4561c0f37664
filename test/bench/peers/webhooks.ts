import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/** Nothing on this machine takes longer to arrive. */
const TIMEOUT_MS = 3_000

/** Receives one webhook after `act`. Returns whether it came, and whether it was signed. */
export async function whatArrives(
  act: (url: string) => Promise<void>,
): Promise<'none' | 'unsigned' | 'signed'> {
  let arrived: (verdict: 'unsigned' | 'signed') => void = () => {}
  const first = new Promise<'unsigned' | 'signed'>((resolve) => (arrived = resolve))
  const server = createServer((request, response) => {
    const isSigned = Object.keys(request.headers).some((name) => name.includes('signature'))
    request.resume().on('end', () => {
      response.end()
      arrived(isSigned ? 'signed' : 'unsigned')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await act(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    return await Promise.race([first, setTimeout(TIMEOUT_MS, 'none' as const)])
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
