import { request as forward } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { watch } from '../../src/cli/tail/watch.ts'
import { createClient } from '../../src/client.ts'
import { openDatabase } from '../../src/store/postgres/database.ts'
import { ann, sitDown } from '../http/guest-table/table-page-fixtures.ts'
import { postgresPrograms } from '../support/postgres.ts'
import { sharedStore } from '../support/shared-store.ts'
import { item, openReceiver, openSimulator, totals, type TestSimulator } from '../support/simulator.ts'
import { openHttpServer } from '../support/http-server.ts'

describe.skipIf(postgresPrograms === undefined)('instances that share a sandbox', () => {
  const shared = sharedStore()

  const instance = (sandbox = shared.sandbox) => openSimulator({ store: shared.database.url, sandbox })

  async function instances(): Promise<[TestSimulator, TestSimulator, TestSimulator]> {
    return [await instance(), await instance(), await instance()]
  }

  /** Everything that the log of an instance answers. */
  async function answersOf(simulator: TestSimulator): Promise<unknown[]> {
    const paths = [
      '/_sim/requests?limit=100',
      '/_sim/requests?finding=any',
      '/_sim/requests?external_check_id=a&order=asc',
      '/_sim/report',
      '/_sim/account',
    ]
    const answers: unknown[] = []
    for (const path of paths) answers.push((await simulator.call(`GET ${path}`)).json)
    return answers
  }

  describe('answer alike from the request log:', () => {
    it('an answered request is in the log of every instance at once', async () => {
      const all = await instances()
      for (let round = 0; round < 6; round += 1) {
        const [to, ...others] = [...all.slice(round % 3), ...all.slice(0, round % 3)]
        const answer = await to?.push(`check-${round}`)
        const id = answer?.headers.get('x-request-id') ?? ''
        for (const other of others) expect(await other.client.requests.get(id)).toMatchObject({ id })
      }
    })

    it('findings that the pushes of one check show at several instances', async () => {
      const [one, two, three] = await instances()
      const cheaper = { items: [item('burger', { price_cents: 900 })], totals: totals(900) }
      await one.push('late')
      await two.push('late', cheaper)
      await three.push('late')
      const table = await sitDown(one)
      const items = [{ external_id: 'burger', quantity: 1 }]
      await one.push('a')
      await table.post(ann, '/claims', { external_check_id: 'a', items })
      const without = { items: [item('tea')], totals: totals(1850) }
      expect((await two.push('a', without)).status).toBe(409)
      expect((await three.push('a', without)).status).toBe(409)
      expect((await one.push('bad', { totals: totals(-1) })).status).toBe(422)
      expect((await two.push('bad', { totals: totals(-1) })).status).toBe(422)
      const answers = await answersOf(one)
      expect(await answersOf(two)).toEqual(answers)
      expect(await answersOf(three)).toEqual(answers)
      const { findings } = await two.client.report()
      const codes = findings.map(({ code, count }) => `${code} ${count}`)
      expect(codes).toEqual(expect.arrayContaining(['possible_late_retry 1', 'conflict_ignored 1']))
      // An instance that starts later reads what is kept.
      expect(await answersOf(await instance())).toEqual(answers)
    })

    it('a reset empties the log of every instance', async () => {
      const [one, two, three] = await instances()
      await one.push('a')
      await two.client.state.reset()
      for (const simulator of [three, one, two]) {
        expect((await simulator.client.requests.list()).data).toEqual([])
        expect(await simulator.client.report()).toMatchObject({ pushes: 0, findings: [] })
      }
      await three.push('b')
      expect((await one.client.requests.list()).data).toMatchObject([{ path: '/v1/checks/external/b' }])
      expect((await (await instance()).client.requests.list()).data).toHaveLength(1)
    })

    it('contains no secret, and neither does the database', async () => {
      const [one, two] = [await instance(), await instance()]
      await one.call('GET /v1/checks?api_key=ci-key-4711')
      const { text } = await two.call('GET /_sim/requests')
      expect(text).toContain('/v1/checks?api_key=…')
      expect(text).not.toContain('ci-key-4711')
      const database = await openDatabase({ url: shared.database.url, sandbox: shared.sandbox })
      onTestFinished(() => database.close())
      const rows = await database.query(`SELECT doc FROM ${database.schema}.requests`)
      expect(rows).toHaveLength(1)
      expect(JSON.stringify(rows)).not.toMatch(/ci-key-4711|twk_|whsec_/)
    })
  })

  /** Reads a stream by its bytes, with the ids of messages. */
  async function readAt(simulator: TestSimulator, lastEventId?: string) {
    const controller = new AbortController()
    onTestFinished(() => controller.abort())
    const response = await fetch(`${simulator.url}/_sim/stream`, {
      headers: {
        authorization: `Bearer ${simulator.apiKey}`,
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      },
      signal: controller.signal,
    })
    const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    let id = lastEventId
    const next = async (): Promise<{ type: string; data: Record<string, unknown> }> => {
      while (!text.includes('\n\n')) {
        const { done, value } = await reader.read()
        if (done) throw new Error('The stream has ended.')
        text += value
      }
      const message = text.slice(0, text.indexOf('\n\n'))
      text = text.slice(message.length + 2)
      id = /^id: (.*)$/m.exec(message)?.[1] ?? id
      const type = /^event: (.*)$/m.exec(message)?.[1]
      const data = /^data: (.*)$/m.exec(message)?.[1]
      return type === undefined || data === undefined
        ? next()
        : { type, data: JSON.parse(data) as Record<string, unknown> }
    }
    return { next, lastId: () => id, close: () => controller.abort() }
  }

  const nameOf = ({ type, data }: { type: string; data: Record<string, unknown> }) =>
    type === 'request' ? `request ${String(data.path)}` : `${type} ${String(data.id)}`

  describe('send one stream:', () => {
    it('a stream that continues at another instance has no gap and no repeated message', async () => {
      const all = await instances()
      const receiver = await openReceiver(200)
      await all[0].client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
      const control = await readAt(all[0])
      let stream = await readAt(all[0])
      let pushed = 0
      const seen: string[] = []
      const push = async () => {
        await all[pushed % 3]?.push(`check-${pushed++}`)
      }
      for (let round = 0; round < 12; round += 1) {
        await Promise.all([push(), push(), push(), push()])
        // Reads only some messages, so that each reconnection has others to catch up with.
        for (let n = 0; n < 5 + (round % 4); n += 1) {
          const message = await stream.next()
          if (message.type !== 'live') seen.push(nameOf(message))
        }
        const id = stream.lastId()
        stream.close()
        stream = await readAt(all[(round + 1) % 3] ?? all[0], id)
      }
      // An event, an attempt and a request for each push.
      while (seen.length < 3 * pushed) {
        const message = await stream.next()
        if (message.type !== 'live') seen.push(nameOf(message))
      }
      const expected: string[] = []
      while (expected.length < 3 * pushed) expected.push(nameOf(await control.next()))
      expect(seen.toSorted()).toEqual(expected.toSorted())
      const requests = (names: readonly string[]) => names.filter((name) => name.startsWith('request'))
      expect(requests(seen)).toEqual(requests(expected))
    })

    it('a stream that continues after a reset reports the reset', async () => {
      const [one, two] = [await instance(), await instance()]
      const stream = await readAt(one)
      await one.push('a')
      await stream.next()
      await one.client.state.reset()
      const again = await readAt(two, stream.lastId())
      const told = [await again.next(), await again.next(), await again.next()]
      expect(told.map(({ type }) => type)).toEqual(['reset', 'dropped', 'live'])
    })

    it('an id of another sandbox is ignored', async () => {
      const one = await instance()
      const other = await instance(`${shared.sandbox}_other`)
      await other.push('a')
      const stream = await readAt(other)
      await other.push('b')
      await stream.next()
      const again = await readAt(one, stream.lastId())
      await one.push('c')
      expect(await again.next()).toMatchObject({ type: 'event' })
    })
  })

  it('notify the page of a table of changes at other instances', async () => {
    const [one, two] = [await instance(), await instance()]
    const table = await sitDown(one)
    const controller = new AbortController()
    onTestFinished(() => controller.abort())
    const response = await fetch(`${two.url}${table.path}/stream`, { signal: controller.signal })
    const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    const changes = async (count: number) => {
      while (text.split('event: change').length <= count) text += (await reader.read()).value ?? ''
    }
    await changes(1)
    await one.push('a')
    await changes(2)
    expect(JSON.stringify(await table.state())).toContain('A burger')
  })

  /** A proxy that deals requests to the instances in turn. `cut` ends all its connections. */
  async function openProxy(targets: readonly { url: string }[]) {
    let turn = 0
    const { url, server } = await openHttpServer((incoming, answer) => {
      const target = targets[turn++ % targets.length]
      const { method = 'GET', headers } = incoming
      const sent = forward(`${target?.url}${incoming.url}`, { method, headers }, (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers)
        response.pipe(answer)
        response.on('error', () => answer.destroy())
      })
      sent.on('error', () => answer.destroy())
      answer.on('close', () => sent.destroy())
      incoming.pipe(sent)
    })
    return { url, cut: () => server.closeAllConnections() }
  }

  it('serve `tail` behind a round-robin proxy, over lost connections', async () => {
    const all = await instances()
    const receiver = await openReceiver(200)
    await all[0].client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
    const proxy = await openProxy(all)
    const client = createClient({ url: proxy.url, apiKey: all[0].apiKey })
    const ending = new AbortController()
    const told: string[] = []
    const pushAll = async () => {
      for (let number = 0; number < 40; number += 1) {
        await all[number % 3]?.push(`check-${number}`)
        if (number % 10 === 9) proxy.cut()
      }
    }
    let pushes: Promise<void> | undefined
    const connect = async () => client
    for await (const event of watch({ connect, signal: ending.signal, since: undefined, reconnect: true })) {
      if (event.type === 'listening') pushes = pushAll()
      if (event.type === 'attempt') told.push(`attempt ${event.data.external_check_id}`)
      if (event.type === 'request') told.push(`request ${event.data.path}`)
      if (told.length === 80) break
    }
    await pushes
    ending.abort()
    const names = Array.from({ length: 40 }, (_, number) => [
      `attempt check-${number}`,
      `request /v1/checks/external/check-${number}`,
    ])
    expect(told.toSorted()).toEqual(names.flat().toSorted())
  })
})
