import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createClient } from '../../src/client.ts'
import { withVariables } from '../../src/cli/files/env-file.ts'
import { bin, checkBody, spawnProcess } from '../support/cli.ts'
import { openSimulator, type TestSimulator } from '../support/simulator.ts'

/** Milliseconds of CPU time of the cheapest of a few tries. Everything runs in this process, so a busy machine adds little. */
async function cheapest(tries: number, work: (index: number) => unknown): Promise<number> {
  const times: number[] = []
  for (let index = 0; index < tries; index += 1) {
    const start = process.cpuUsage()
    await work(index)
    const { user, system } = process.cpuUsage(start)
    times.push((user + system) / 1_000)
  }
  return Math.min(...times)
}

/** Asks from an address of this machine, which is a peer of its own to the service. Resolves with the status. */
function ask({ port }: TestSimulator, localAddress: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', localAddress, path: '/_sim/health', agent: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode))
    }).once('error', reject)
  })
}

async function openIdle({ port }: TestSimulator, count: number, localAddress: string): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect({ port, host: '127.0.0.1', localAddress }))
  for (const socket of sockets) socket.on('error', () => {})
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  return sockets
}

// macOS and Windows have one loopback address alone.
const hasPeers = process.platform === 'linux'
const [peer, other] = hasPeers ? ['127.0.0.2', '127.0.0.3'] : ['127.0.0.1', '127.0.0.1']

describe('without a key', () => {
  it('a long If-None-Match takes no longer than a short one', async () => {
    const { call } = await openSimulator()
    const askWith = (value: string) => () =>
      call('GET /openapi.json', { key: null, headers: { 'if-none-match': value } })
    await askWith('"x"')()
    const plain = await cheapest(5, askWith('"x"'))
    const hostile = await cheapest(5, askWith(`"x"${' '.repeat(15_000)}"`))
    expect(hostile).toBeLessThan(plain + 40)
  })

  it('the OpenAPI document is built once, for any number of Host names', async () => {
    const { raw } = await openSimulator()
    const askAs = async (name: string) => {
      const answer = await raw(
        `GET /openapi.json HTTP/1.1\r\nHost: ${name}.localhost\r\nConnection: close\r\n\r\n`,
      )
      expect(answer.text).toContain(`"url":"http://${name}.localhost"`)
    }
    await askAs('same')
    const same = await cheapest(5, () => askAs('same'))
    const others = await cheapest(5, (index) => askAs(`other-${index}`))
    const document = await import('../../src/http/openapi/document.ts')
    const making = await cheapest(5, () => document.openApiText())
    expect(others).toBeLessThan(same + making / 2)
  })

  it('idle connections of one peer block neither other peers nor the peer itself', async () => {
    const simulator = await openSimulator({ connectionLimits: { connections: 20 } })
    await openIdle(simulator, 25, peer)
    expect(await ask(simulator, other)).toBe(200)
    expect(await ask(simulator, peer)).toBe(200)
  })

  it.skipIf(!hasPeers)(
    'a peer with few connections keeps them when a peer with many opens more',
    async () => {
      const simulator = await openSimulator({ connectionLimits: { connections: 10 } })
      const [kept] = await openIdle(simulator, 1, other)
      if (kept === undefined) return expect.fail('No connection was made.')
      await openIdle(simulator, 30, peer)
      // By then the service has accepted them.
      expect(await ask(simulator, peer)).toBe(200)
      kept.write('GET /_sim/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
      const [answer] = (await once(kept, 'data')) as [Buffer]
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /)
    },
  )
})

it.skipIf(process.platform !== 'linux')(
  'a service without free file descriptors reports what it cannot load, keeps the delivery, and stops cleanly',
  async () => {
    const limit = 120
    const start = [process.execPath, bin, 'start', '--port', '0', '--json', '--allow-http-loopback']
    const limited = await spawnProcess('bash', ['-c', `ulimit -n ${limit} && exec "$@"`, '-', ...start], {})
    const { url, api_key: apiKey } = JSON.parse(await limited.until('stdout', /\n/)) as Record<string, string>
    const client = createClient({ url: url ?? '', apiKey })
    await client.endpoints.create({ url: 'http://127.0.0.1:1/', event_types: ['check.created'] })
    const port = Number(new URL(url ?? '').port)
    const sockets = Array.from({ length: limit }, () => connect(port, '127.0.0.1').on('error', () => {}))
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
    await vi.waitFor(async () => {
      // One with a number beyond the limit may be inherited from whatever runs the tests.
      const within = (await readdir(`/proc/${limited.child.pid}/fd`)).filter(
        (number) => Number(number) < limit,
      )
      expect(within).toHaveLength(limit)
    })
    expect(await client.checks.push('a', JSON.stringify(checkBody()))).toMatchObject({ status: 201 })
    await limited.until('stderr', /EMFILE/)
    limited.child.kill()
    expect(await limited.ended).toMatchObject({ code: 0 })
  },
)

describe('a .env file of a clone', () => {
  it.each([
    ['spaces in a value', `A=x${' '.repeat(50_000)}y`],
    ['spaces before a name', `${' '.repeat(50_000)}=`],
    ['a long name', `${'A'.repeat(50_000)} `],
    ['quotes that nothing closes', `A="\\"\n`.repeat(10_000)],
    ['quotes of each kind', `A='x\nB="x\nC=\`x\n`.repeat(10_000)],
    ['many comments', `A=${'x#'.repeat(25_000)}`],
  ])('with %s is read quickly', async (_what, text) => {
    expect(await cheapest(3, () => withVariables(text, { TABWIRE_URL: 'http://localhost' }))).toBeLessThan(
      100,
    )
  })
})
