import { constants } from 'node:os'
import { describe, expect, test } from 'vitest'
import { startService } from '../support/cli.ts'
import { startReceiver } from '../support/https-receiver.ts'
import { hasTerminals, onTerminal, tabwireOnTerminal } from '../support/terminal.ts'

describe.skipIf(!hasTerminals)(`a command whose terminal is closed ${onTerminal}`, () => {
  /** Runs `tabwire WORDS` on a terminal that closes once it has printed a text. Returns how it ended. */
  async function endOf(words: readonly string[], text: string, env: Record<string, string> = {}) {
    const { left } = await tabwireOnTerminal(words, { env: { ...env, TERMINAL_CLOSES_AT: text } })
    return (await left()).code
  }
  // Node.js would abort, which is another signal.
  const byHangup = -constants.signals.SIGHUP

  test('ends by SIGHUP: listen, which removes its endpoint, tail and start', async () => {
    const service = await startService(['--allow-http-loopback'])
    const receiver = await startReceiver()
    const env = { TABWIRE_URL: service.url, TABWIRE_API_KEY: service.key }
    expect(await endOf(['listen', '--forward-to', receiver.url], 'quit', env)).toBe(byHangup)
    const listed = await service.call('GET', '/v1/webhook-endpoints')
    expect(await listed.json()).toMatchObject({ data: [] })
    expect(await endOf(['tail'], 'quit', env)).toBe(byHangup)
    expect(await endOf(['start', '--in-memory', '--port', '0'], 'Ctrl-C')).toBe(byHangup)
    await service.stop()
    await receiver.close()
  })
})
