import { beforeAll, describe, expect, test } from 'vitest'
import { checkBody, serve, type RunningService } from '../support/cli.ts'
import { startReceiver, type Receiver } from '../support/https-receiver.ts'
import { hasTerminals, onTerminal, tabwireOnTerminal } from '../support/terminal.ts'

let service: RunningService
let receiver: Receiver
beforeAll(async () => {
  service = await serve()
  receiver = await startReceiver()
  return async () => {
    await service.stop()
    await receiver.close()
  }
})

const endpoints = async () =>
  (await service.json<{ data: { url: string }[] }>('endpoints', 'list')).data.map(({ url }) => url)

describe.runIf(hasTerminals)(`tabwire listen ${onTerminal}`, () => {
  test('resends the last delivery, clears the screen and quits by keys, and leaves nothing behind', async () => {
    const listen = await tabwireOnTerminal(['listen', '--forward-to', receiver.url], { cwd: service.cwd })
    // Without a delivery there is nothing to resend.
    const begun = await listen.shows(/Listening\.[^]*LISTENING {3}0 forwarded · c clear · q quit/)
    expect(begun).not.toContain('r resend')
    await service.call('PUT', '/v1/checks/external/lunch', checkBody())
    await listen.shows(
      /✓ [\d:]{8} {2}check\.created {6}lunch {15}200 [^\n]*\r\n[^]*LISTENING {3}1 forwarded · r resend check\.created lunch · c clear · q quit/,
    )

    listen.type('r')
    await listen.shows(/✓ Resent check\.created to we_\w+ as\s+dlv_\w+[^]*2 forwarded/)
    expect((await receiver.received(2)).map(({ body }) => body)).toEqual([
      receiver.requests[0]?.body,
      receiver.requests[0]?.body,
    ])

    receiver.answer(503)
    listen.type('r')
    await listen.shows(/✗ [^]*503[^]*3 forwarded, 1 failed/)
    listen.type('c')
    listen.type('q')
    expect(await listen.left()).toEqual({ code: 0, restored: true })
    expect((await listen.ended).stdout).toMatch(/\u001b\[2J\u001b\[3J\u001b\[H[^]*\u001b\[\?25h$/)
    expect(await endpoints()).toEqual([])
  })

  test('exits with 130 on Ctrl-C', async () => {
    const listen = await tabwireOnTerminal(['listen', '--forward-to', receiver.url], { cwd: service.cwd })
    await listen.shows(/LISTENING/)
    listen.type('\u0003')
    expect(await listen.left()).toEqual({ code: 130, restored: true })
    expect(await endpoints()).toEqual([])
  })
})
