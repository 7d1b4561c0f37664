import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Envelope } from '../../src/model/event.ts'
import type { Check } from '../../src/model/check.ts'
import { verify } from '../../src/signature/index.ts'
import { checkBody, startService, type ServiceProcess } from '../support/cli.ts'
import { startReceiver, type Received, type Receiver } from '../support/https-receiver.ts'

test('every push that was acknowledged before kill -9 is stored and delivered after a restart', async () => {
  // The receiver does not answer, so each attempt is in flight or pending when the service is killed.
  const receiver = await startReceiver({ answer: 'hang' })
  const options = ['--allow-http-loopback', '--disable-after', '0']
  const first = await startService(options)
  const registered = await first.call('POST', '/v1/webhook-endpoints', {
    url: receiver.url,
    event_types: ['check.created'],
  })
  const { signing_secret: secret } = (await registered.json()) as { signing_secret: string }
  const acknowledged = await pushUntilKilled(first, { pushes: 120, killAfter: 40 })
  expect(acknowledged.length).toBeGreaterThanOrEqual(40)
  expect(acknowledged.length).toBeLessThan(120)

  const arrived = arrivalOf(receiver, new Set(acknowledged.map(({ external_id }) => external_id)))
  const second = await startService(options, { cwd: first.cwd })
  const run = await readFile(join(first.cwd, '.tabwire', 'run.json'), 'utf8')
  expect(JSON.parse(run)).toMatchObject({ url: second.url, pid: second.process.child.pid })
  for (const check of acknowledged) {
    const answer = await second.call('GET', `/v1/checks/external/${check.external_id}`)
    expect(await answer.json()).toEqual(check)
  }
  for (const [externalId, { body, headers }] of await arrived) {
    const check = acknowledged.find(({ external_id }) => external_id === externalId)
    expect((JSON.parse(body.toString()) as Envelope).data).toEqual(check)
    const header = headers['x-service-signature']
    expect(verify({ payload: body, header, secret })).toMatchObject({ ok: true })
  }
  const { code } = await second.stop()
  // Windows ends a process without asking it.
  if (process.platform !== 'win32') expect(code).toBe(0)
  await receiver.close()
})

/** Pushes checks, eight at a time, kills the service in the midst of it, and returns what had been answered. */
async function pushUntilKilled(service: ServiceProcess, { pushes, killAfter }: Record<string, number>) {
  const acknowledged: Check[] = []
  let next = 0
  const pushOn = async () => {
    while (next < (pushes ?? 0)) {
      const answer = await service.call('PUT', `/v1/checks/external/check-${next++}`, checkBody())
      acknowledged.push((await answer.json()) as Check)
      if (acknowledged.length === killAfter) service.process.child.kill('SIGKILL')
    }
  }
  await Promise.allSettled(Array.from({ length: 8 }, pushOn))
  expect(await service.process.ended).toMatchObject({ signal: 'SIGKILL' })
  return acknowledged
}

/** From now on the receiver answers; resolves when a delivery about each of these checks has come. */
function arrivalOf(receiver: Receiver, externalIds: ReadonlySet<string>): Promise<Map<string, Received>> {
  const arrived = new Map<string, Received>()
  return new Promise((resolve) =>
    receiver.answer((response, received) => {
      response.writeHead(204).end()
      const { data } = JSON.parse(received.body.toString()) as { data: Check }
      if (externalIds.has(data.external_id)) arrived.set(data.external_id, received)
      if (arrived.size === externalIds.size) resolve(arrived)
    }),
  )
}
