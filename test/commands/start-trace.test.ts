import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sampled } from '../soak/seeded.ts'
import { checkBody, emptyDirectory, startService } from '../support/cli.ts'
import { startReceiver } from '../support/https-receiver.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'

describe.concurrent('tabwire start --trace', () => {
  const ways: [string, string[], Record<string, string>, object][] = [
    ['the flag', ['--trace'], {}, {}],
    ['the environment', [], { TABWIRE_TRACE: 'true' }, {}],
    ['the settings file', [], {}, { trace: true }],
    ['the default', [], {}, {}],
    ['--no-trace', ['--no-trace'], { TABWIRE_TRACE: 'true' }, { trace: true }],
  ]

  test.each(sampled(ways, 2))('is set by %s', async (name, args, env, settings) => {
    const cwd = await emptyDirectory()
    await writeFile(join(cwd, 'tabwire.config.json'), JSON.stringify(settings))
    const receiver = await startReceiver()
    const started = ['--allow-http-loopback', ...args]
    const service = await startService(started, { cwd, env })
    try {
      await service.json('endpoints', 'create', receiver.url, '--events', 'check.created')
      const pushed = await fetch(`${service.url}/v1/checks/external/dinner`, {
        method: 'PUT',
        headers: {
          authorization: `Bearer ${service.key}`,
          'content-type': 'application/json',
          traceparent: `00-${TRACE}-00f067aa0ba902b7-01`,
        },
        body: JSON.stringify(checkBody()),
      })
      expect(pushed.status).toBe(201)
      const [received] = await receiver.received(1)
      const sent = received?.headers.traceparent
      const isOn = name !== 'the default' && name !== '--no-trace'
      expect(sent).toEqual(isOn ? expect.stringContaining(TRACE) : undefined)
      await service.run(['deliveries', 'wait', '--check', 'dinner', '--type', 'check.created'])
      const id = pushed.headers.get('x-request-id') ?? ''
      const shown = await service.run(['requests', 'show', id])
      expect(shown.stdout.includes(`\ntrace id  ${TRACE}\n`)).toBe(isOn)
      const listed = await service.run(['requests', 'list'])
      expect(/^REQUEST .* TRACE ID\n/.test(listed.stdout)).toBe(isOn)
      const { data } = await service.json<{ data: { id: string }[] }>('deliveries', 'list')
      const delivery = await service.run(['deliveries', 'show', data[0]?.id ?? ''])
      expect(delivery.stdout.includes(`\nattempt 1: traceparent ${String(sent)}\n`)).toBe(isOn)
    } finally {
      await service.stop()
      await receiver.close()
    }
  })
})
