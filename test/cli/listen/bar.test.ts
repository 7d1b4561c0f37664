import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { openBar } from '../../../src/cli/listen/bar.ts'
import { ApiError, type AttemptMessage } from '../../../src/client.ts'
import type { Terminal } from '../../../src/cli/base-command.ts'

/** A terminal that keeps what is written, and takes what is typed. */
function fakeTerminal() {
  const keyboard = new EventEmitter()
  const input = Object.assign(keyboard, { setRawMode() {}, setEncoding() {}, resume() {}, pause() {} })
  const terminal = { input, write() {}, columns: () => 80, onResize() {} } as unknown as Terminal
  return { terminal, type: (text: string) => keyboard.emit('data', text) }
}

test('a failed resend shows only the message of the error', async () => {
  const { terminal, type } = fakeTerminal()
  const said: string[] = []
  const refusal = { code: 'endpoint_disabled', message: 'The endpoint is disabled.' }
  const bar = openBar({
    terminal,
    say: (text) => void said.push(text),
    resend: () => Promise.reject(new ApiError(409, refusal, null, '/_sim/deliveries')),
    quit() {},
    interrupt() {},
  })
  const attempt = { outcome: 'http_error' }
  bar.count({ attempt, id: 'dlv_1', event_type: 'check.created', external_check_id: 'a' } as AttemptMessage)
  type('r')
  await expect.poll(() => said).toEqual(['The endpoint is disabled.'])
  bar.close()
})
