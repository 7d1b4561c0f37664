import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { urlOf, type Database } from './postgres.ts'

/** Stands between an instance and the server, on a socket of its own, and loses bytes when it is told. */
export interface DatabaseProxy {
  /** URL for `--store` that leads through the proxy. */
  url: string
  /** Passes requests on and loses the answers; connections stay open. */
  loseAnswers(): void
  /** Passes the next bytes to the server that have a text on, then ends the connection before the answer. */
  cutAfterNextRequest(text?: string): void
  /** Passes nothing on, in either direction; connections stay open. */
  stall(): void
  /** Passes everything on again, also what was held by `stall`. */
  resume(): void
  /** Ends all connections. */
  cut(): void
  close(): Promise<void>
}

interface Pair {
  client: Socket
  server: Socket
}

export async function startDatabaseProxy(database: Database): Promise<DatabaseProxy> {
  const directory = await mkdtemp(join(tmpdir(), 'tabwire-proxy-'))
  const pairs = new Set<Pair>()
  let mode: 'pass' | 'lose' | 'stall' | 'cut next' = 'pass'
  let cutAt = ''
  let held: (() => void)[] = []

  const end = (pair: Pair) => {
    pair.client.destroy()
    pair.server.destroy()
    pairs.delete(pair)
  }
  const listener = createServer((client) => {
    const server = connect(join(database.directory, '.s.PGSQL.5432'))
    const pair = { client, server }
    pairs.add(pair)
    let isCut = false
    client.on('data', (bytes) => {
      const pass = () => server.write(bytes)
      if (mode === 'stall') return void held.push(pass)
      if (mode === 'cut next' && bytes.includes(cutAt)) {
        isCut = true
        mode = 'pass'
      }
      pass()
    })
    server.on('data', (bytes) => {
      if (isCut) return end(pair)
      if (mode === 'stall') held.push(() => client.write(bytes))
      else if (mode !== 'lose') client.write(bytes)
    })
    for (const socket of [client, server]) {
      socket.on('error', () => end(pair))
      socket.on('close', () => end(pair))
    }
  })
  listener.listen(join(directory, '.s.PGSQL.5432'))
  await once(listener, 'listening')
  return {
    url: urlOf(directory, new URL(database.url).pathname.slice(1)),
    loseAnswers: () => void (mode = 'lose'),
    cutAfterNextRequest(text = '') {
      mode = 'cut next'
      cutAt = text
    },
    stall: () => void (mode = 'stall'),
    resume() {
      mode = 'pass'
      for (const pass of held.splice(0)) pass()
      held = []
    },
    cut() {
      for (const pair of pairs) end(pair)
    },
    async close() {
      for (const pair of pairs) end(pair)
      listener.close()
      await once(listener, 'close')
      await rm(directory, { recursive: true, force: true })
    },
  }
}
