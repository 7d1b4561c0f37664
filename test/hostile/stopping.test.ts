import { request, Agent } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { isSoak } from '../soak/seeded.ts'
import { checkBody, startService, type RunningService } from '../support/cli.ts'
import { startReceiver } from '../support/https-receiver.ts'

const body = JSON.stringify(checkBody())
const portOf = ({ url }: RunningService) => Number(new URL(url).port)

/** A push whose headers have been read by the service, which now waits for its body. */
async function beginPush(service: RunningService, id: string) {
  const socket = connect(portOf(service), '127.0.0.1')
  const read = { text: '' }
  const go = new Promise<void>((resolve) => socket.once('data', () => resolve()))
  const ended = new Promise<string>((resolve) => {
    socket.on('error', (error) => (read.text += String(error)))
    socket.on('data', (data) => (read.text += data.toString())).on('close', () => resolve(read.text))
  })
  const key = `Authorization: Bearer ${service.key}\r\n`
  const json = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nExpect: 100-continue\r\n`
  socket.write(`PUT /v1/checks/external/${id} HTTP/1.1\r\nHost: localhost\r\n${key}${json}\r\n`)
  await go
  return { id, ended, finish: () => void socket.write(body) }
}

/** Resolves once nothing listens any more: the service has been told to stop, and stops. */
async function untilRefused(port: number): Promise<void> {
  const isTaken = () =>
    new Promise<boolean>((resolve) => {
      const socket: Socket = connect(port, '127.0.0.1')
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
  while (await isTaken());
}

interface Outcome {
  id: string
  status: number | null
  /** The body, or what went wrong. */
  text: string
}

function push({ url, key }: RunningService, id: string, agent: Agent): Promise<Outcome> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const sent = request(`${url}/v1/checks/external/${id}`, { method: 'PUT', agent, headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => (text += part))
      answer.on('error', (error) => resolve({ id, status: null, text: error.message }))
      answer.on('end', () => resolve({ id, status: answer.statusCode ?? null, text }))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve({ id, status: null, text: error.code ?? '' }))
    sent.end(body)
  })
}

describe.skipIf(process.platform === 'win32').concurrent('a service that stops', () => {
  test('answers the 20 pushes in flight, closes their connections, and accepts no new one', async () => {
    const first = await startService([], { isNewProcess: true })
    const pushes = await Promise.all(Array.from({ length: 20 }, (_, n) => beginPush(first, `p-${n}`)))
    first.process.child.kill('SIGTERM')
    await untilRefused(portOf(first))
    expect(first.process.child.exitCode).toBeNull()
    for (const { finish } of pushes) finish()
    const answers = await Promise.all(pushes.map(({ ended }) => ended))
    expect(await first.process.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    const second = await startService([], { cwd: first.cwd })
    for (const [index, answer] of answers.entries()) {
      const [, head = '', shown] = answer.split('\r\n\r\n')
      expect(head).toMatch(/^HTTP\/1\.1 201 /)
      expect(head).toMatch(/^connection: close$/im)
      expect(head).toMatch(/^x-request-id: req_/im)
      expect(await (await second.call('GET', `/v1/checks/external/p-${index}`)).text()).toBe(shown)
    }
    expect(await second.stop()).toMatchObject({ code: 0 })
  })

  test('under load loses no acknowledged push, and stores no unacknowledged one', async () => {
    const first = await startService([], { isNewProcess: true })
    const agent = new Agent({ keepAlive: true, maxSockets: 8 })
    const outcomes: Outcome[] = []
    let next = 0
    let isStopping = false
    const pushOn = async () => {
      for (let refused = 0; refused < 3;) {
        const outcome = await push(first, `p-${next++}`, agent)
        outcomes.push(outcome)
        if (outcome.status !== 201) refused++
        if (outcomes.length < 200 || isStopping) continue
        isStopping = true
        first.process.child.kill('SIGTERM')
      }
    }
    await Promise.all(Array.from({ length: 8 }, pushOn))
    expect(await first.process.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    agent.destroy()

    const acknowledged = outcomes.filter(({ status }) => status === 201)
    const others = outcomes.filter(({ status }) => status !== 201)
    expect(acknowledged.length).toBeGreaterThanOrEqual(190)
    for (const { status, text } of others)
      expect(status === 503 || /^(ECONNREFUSED|ECONNRESET|EPIPE)$/.test(text)).toBe(true)
    const second = await startService([], { cwd: first.cwd })
    const shown = async ({ id }: Outcome) => second.call('GET', `/v1/checks/external/${id}`)
    for (const outcome of acknowledged) expect(await (await shown(outcome)).text()).toBe(outcome.text)
    // A push that was cut off had not been taken up: it can be repeated.
    for (const outcome of others) expect(await shown(outcome)).toMatchObject({ status: 404 })
    expect(await second.stop()).toMatchObject({ code: 0 })
  })

  test('aborts an endless push and a hanging attempt, and repeats the attempt later', async ({
    onTestFinished,
  }) => {
    const receiver = await startReceiver({ answer: 'hang' })
    onTestFinished(() => receiver.close())
    const first = await startService(['--allow-http-loopback'], { isNewProcess: true })
    const endpoint = { url: receiver.url, event_types: ['check.created'] }
    expect((await first.call('POST', '/v1/webhook-endpoints', endpoint)).status).toBe(201)
    expect((await first.call('PUT', '/v1/checks/external/a', checkBody())).status).toBe(201)
    await receiver.received(1)
    const { ended } = await beginPush(first, 'b')
    expect(await first.stop()).toMatchObject({ code: 0, signal: null })
    await ended
    receiver.answer(200)
    const second = await startService(['--allow-http-loopback'], { cwd: first.cwd })
    await receiver.received(2)
    const [sent, sentAgain] = receiver.requests.map(({ body: bytes }) => bytes.toString())
    expect(sentAgain).toBe(sent)
    expect((await second.call('GET', '/v1/checks/external/b')).status).toBe(404)
    expect(await second.stop()).toMatchObject({ code: 0 })
  })

  test.runIf(isSoak)(
    'ends at once on a second signal during pushes, and loses no acknowledged push',
    async ({ expect }) => {
      const first = await startService([], { isNewProcess: true })
      const answer = await (await first.call('PUT', '/v1/checks/external/a', checkBody())).text()
      const { ended } = await beginPush(first, 'b')
      first.process.child.kill('SIGTERM')
      await untilRefused(portOf(first))
      const { child } = first.process
      // Signals within 100 ms count as one.
      await expect.poll(() => child.kill('SIGTERM') && child.exitCode, { timeout: 15_000 }).not.toBeNull()
      expect(child.exitCode).toBe(130)
      await ended
      const second = await startService([], { cwd: first.cwd })
      expect(await (await second.call('GET', '/v1/checks/external/a')).text()).toBe(answer)
      expect((await second.call('GET', '/v1/checks/external/b')).status).toBe(404)
      expect(await second.stop()).toMatchObject({ code: 0 })
    },
  )

  test.runIf(isSoak)('does not crash when its output or terminal is closed', async () => {
    const first = await startService([], { isNewProcess: true })
    first.process.child.stdout?.destroy()
    first.process.child.stderr?.destroy()
    const answer = await (await first.call('PUT', '/v1/checks/external/a', checkBody())).text()
    expect(await first.stop('SIGHUP')).toMatchObject({ code: 0, signal: null })
    const second = await startService([], { cwd: first.cwd })
    expect(await (await second.call('GET', '/v1/checks/external/a')).text()).toBe(answer)
    expect(await second.stop()).toMatchObject({ code: 0 })
  })

  test('prints neither secrets nor data of callers, for valid and invalid calls', async () => {
    const service = await startService([], { isNewProcess: true })
    const note = 'line\n\r\u001b[2J\u001b]0;title\u0007'
    const items = [{ external_id: note, name: note, quantity: 1, price_cents: 1, note: note.repeat(20) }]
    for (let n = 0; n < 25; n++) {
      await service.call('PUT', `/v1/checks/external/c-${n}`, checkBody({ table: { number: note }, items }))
      await service.call('PUT', `/v1/checks/external/c-${n}`, { table: note })
      await service.call('GET', `/v1/${encodeURIComponent(note)}`)
      await service.call('POST', '/v1/webhook-endpoints', {
        url: 'https://127.0.0.1:1/',
        event_types: [note],
      })
    }
    const { code, stdout, stderr } = await service.run(['checks', 'list'])
    expect(code).toBe(0)
    expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/)
    const ended = await service.stop()
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout.split('\n')).toHaveLength(2)
  })
})
