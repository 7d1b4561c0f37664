import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { bin, spawnProcess, startService } from '../support/cli.ts'
import { startReceiver } from '../support/https-receiver.ts'
import { hasTerminals, onTerminal } from '../support/terminal.ts'

const program = fileURLToPath(new URL('../support/closed-terminal.py', import.meta.url))

describe.skipIf(!hasTerminals)(`a command whose terminal is closed ${onTerminal}`, () => {
  /** Runs `tabwire WORDS` until it has printed a text, then closes its terminal. Returns how it ended. */
  async function endOf(words: readonly string[], text: string, env: Record<string, string> = {}) {
    const args = [program, text, process.execPath, bin, ...words]
    const { ended } = await spawnProcess('python3', args, { env: { TERM: 'xterm-256color', ...env } })
    return JSON.parse((await ended).stdout) as object
  }
  // Node.js would abort, which is another signal.
  const byHangup = { signal: constants.signals.SIGHUP }

  test('ends by SIGHUP: listen, which removes its endpoint, tail and start', async () => {
    const service = await startService(['--allow-http-loopback'])
    const receiver = await startReceiver()
    const env = { TABWIRE_URL: service.url, TABWIRE_API_KEY: service.key }
    expect(await endOf(['listen', '--forward-to', receiver.url], 'quit', env)).toEqual(byHangup)
    const listed = await service.call('GET', '/v1/webhook-endpoints')
    expect(await listed.json()).toMatchObject({ data: [] })
    expect(await endOf(['tail'], 'quit', env)).toEqual(byHangup)
    expect(await endOf(['start', '--in-memory', '--port', '0'], 'Ctrl-C')).toEqual(byHangup)
    await service.stop()
    await receiver.close()
  })
})
