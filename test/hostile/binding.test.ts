import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { isLoopbackName } from '../../src/model/url.ts'
import { emptyDirectory, startService, tabwire } from '../support/cli.ts'
import { openTarget } from './standing.ts'

/** The status of a request that comes by 127.0.0.1 and says another `Host`. */
function statusFor(port: number, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: '/_sim/health', headers: { host } }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode))
    })
    sent.on('error', reject).end()
  })
}

describe('a service that listens beyond this machine', () => {
  test.each(['127.example.org', '127.0.0.1.example.org', 'localhost.example.org'])(
    'may be behind the name %s',
    (host) => {
      expect(isLoopbackName(host)).toBe(false)
    },
  )

  test.each(['0.0.0.0', '0', '0x0', '::', '::ffff:0.0.0.0'])(
    'on %s is not treated as loopback, and requires an allowed Host',
    async (host) => {
      expect(isLoopbackName(host)).toBe(false)
      const target = await openTarget({ host }).catch((error: unknown) => error as Error)
      // Where there is no IPv6, it cannot be listened on, or a request to it fails.
      if (target instanceof Error) {
        expect(host).toContain(':')
        return expect(['PortUnavailable', 'TypeError']).toContain(target.name)
      }
      expect(await statusFor(target.port, 'localhost')).toBe(200)
      expect(await statusFor(target.port, 'evil.example')).toBe(403)
      await target.close()
    },
  )

  test('prints a warning at start', async () => {
    const service = await startService(['--host', '0.0.0.0'])
    const { stderr } = await service.stop()
    expect(stderr).toMatch(/^Warning: --host 0\.0\.0\.0: other machines can reach the service\./)
  })

  test('refuses an empty --host', async () => {
    const cwd = await emptyDirectory()
    const { code, stdout, stderr } = await tabwire(['start', '--host', '', '--port', '0', '--json'], { cwd })
    expect(code).toBe(2)
    expect(stdout + stderr).toContain('--host must be an address such as 127.0.0.1')
  })
})
