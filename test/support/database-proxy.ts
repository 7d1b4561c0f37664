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
  /**
   * Swallows the next bytes to the server that have a text, and everything after them on this connection, which stays open.
   * Resolves when that has happened. Other connections pass.
   */
  swallowFrom(text: string): Promise<void>
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
  let swallowing: { text: string; done: () => void } | undefined

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
    let isSwallowed = false
    client.on('data', (bytes) => {
      if (swallowing !== undefined && bytes.includes(swallowing.text)) {
        swallowing.done()
        swallowing = undefined
        isSwallowed = true
      }
      if (isSwallowed) return
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
      if (isSwallowed) return
      if (mode === 'stall') held.push(() => client.write(bytes))
      else if (mode !== 'lose') client.write(bytes)
    })
    for (const socket of [client, server]) {
      const close = () => {
        // A half-open connection does not show that one side has ended.
        if (!isSwallowed || socket === client) end(pair)
      }
      socket.on('error', close).on('close', close)
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
    swallowFrom: (text) => new Promise((done) => (swallowing = { text, done })),
    stall: () => void (mode = 'stall'),
    resume() {
      mode = 'pass'
      swallowing = undefined
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
