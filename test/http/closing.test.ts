import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { check, openReceiver, openSimulator, rawHeaders, temporaryDirectory } from '../support/simulator.ts'

describe('closing', () => {
  it('frees the port, and what was answered is durable', async () => {
    const dataDirectory = await temporaryDirectory()
    const { close, push, url } = await openSimulator({ dataDirectory })
    const { text } = await push('a')
    await close()
    await expect(fetch(url)).rejects.toThrow()
    const again = await openSimulator({ dataDirectory })
    expect((await again.call('GET /v1/checks/external/a')).text).toBe(text)
  })

  it('lets a request in flight come to its end, answers a further one with 503, and takes no new connection', async () => {
    const simulator = await openSimulator({ dataDirectory: await temporaryDirectory() })
    const body = JSON.stringify(check())
    const host = rawHeaders(simulator)
    const push = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`
    let answers = ''
    const socket = connect(simulator.port, '127.0.0.1')
    const first = new Promise((resolve) => socket.once('data', resolve))
    const ended = new Promise((resolve) => {
      socket.on('data', (data) => (answers += data.toString())).on('close', resolve)
    })
    socket.write(`PUT /v1/checks/external/a HTTP/1.1\r\n${host.replace('Connection: close\r\n', '')}${push}`)
    await first // 100 Continue: the push is in flight
    const closing = simulator.close()
    socket.write(`${body}GET /v1/locations HTTP/1.1\r\n${host}\r\n`)
    await Promise.all([ended, closing])
    expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 201', 'HTTP/1.1 503'])
    expect(answers).toContain('"code":"shutting_down"')
    await expect(fetch(simulator.url)).rejects.toThrow()
  })

  it('lets an attempt in flight come to its end and records it', async () => {
    const dataDirectory = await temporaryDirectory()
    const answer = { go: () => {} }
    const receiver = await openReceiver((response) => (answer.go = () => response.writeHead(200).end()))
    const first = await openSimulator({ dataDirectory })
    await first.client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
    await first.push('a')
    await receiver.received(1)
    const closing = first.close()
    answer.go()
    await closing
    const second = await openSimulator({ dataDirectory })
    await second.idle()
    expect((await second.client.deliveries.list()).data).toMatchObject([
      { status: 'delivered', attempts: [{}] },
    ])
    expect(receiver.requests).toHaveLength(1)
  })
})
