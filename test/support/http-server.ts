import * as http from 'node:http'
import * as https from 'node:https'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

interface HttpServerOptions {
  /** Serves HTTPS. */
  tls?: { cert: string; key: string }
  /** Called with what ends the server; by default the end of the test. */
  atEnd?: (end: () => Promise<void>) => void
}

/** A server on a free port of 127.0.0.1 that answers as `listener` does. `url` is its origin. */
export async function openHttpServer(
  listener: http.RequestListener,
  { tls, atEnd = onTestFinished }: HttpServerOptions = {},
): Promise<{ url: string; port: number; server: http.Server }> {
  const server = tls === undefined ? http.createServer(listener) : https.createServer(tls, listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(
    () =>
      new Promise<void>((resolve) => {
        // A test may have closed it already.
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  const { port } = server.address() as AddressInfo
  return { url: `http${tls === undefined ? '' : 's'}://127.0.0.1:${port}`, port, server }
}

/**
 * Returns a port that is free and stays so: below the range from which systems take the ports of other tests' servers
 * and connections.
 */
export async function freePort(): Promise<number> {
  const port = 10_000 + Math.floor(Math.random() * 20_000)
  const server = http.createServer()
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, 'localhost', () => resolve(true))
  })
  if (!isFree) return freePort()
  await new Promise((resolve) => server.close(resolve))
  return port
}
