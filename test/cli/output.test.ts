import { beforeAll, describe, expect, test } from 'vitest'
import { checkBody, serve, type RunningService } from '../support/cli.ts'

let service: RunningService
beforeAll(async () => {
  service = await serve()
  await service.call('PUT', '/v1/checks/external/a', checkBody())
  return async () => {
    await service.stop()
  }
})

const escape = '\u001b'

describe.concurrent('colours', () => {
  test('are off in a pipe', async () => {
    const [list, error] = await Promise.all([
      service.run(['checks', 'list']),
      service.run(['checks', 'show', 'b']),
    ])
    expect(list.stdout).not.toContain(escape)
    expect(error.stderr).not.toContain(escape)
  })

  test('are on with FORCE_COLOR, and the columns stay aligned', async () => {
    const plain = await service.run(['checks', 'list'])
    const { stdout } = await service.run(['checks', 'list'], { env: { FORCE_COLOR: '1' } })
    expect(stdout).toContain(`${escape}[32mopen${escape}[39m`)
    expect(stdout.replace(/\u001b\[\d+m/g, '')).toBe(plain.stdout)
    const { stderr } = await service.run(['checks', 'show', 'b'], { env: { FORCE_COLOR: '1' } })
    expect(stderr).toContain(`${escape}[31mError:${escape}[39m`)
  })

  test('are off with NO_COLOR, also when FORCE_COLOR is set', async () => {
    const env = { FORCE_COLOR: '1', NO_COLOR: '1' }
    expect((await service.run(['checks', 'list'], { env })).stdout).not.toContain(escape)
    expect((await service.run(['checks', 'show', 'b'], { env })).stderr).not.toContain(`${escape}[31m`)
    expect((await service.run(['doctor'], { env })).stdout).not.toContain(escape)
  })
})

const register = 'tabwire endpoints create URL --events check.created'

describe.concurrent('empty lists', () => {
  test.each([
    ['endpoints', `No webhook endpoints yet. Register one with: ${register}\n`],
    [
      'deliveries',
      'No deliveries yet. Forward them to your application with: tabwire listen --forward-to http://localhost:3000/webhooks\n',
    ],
  ])('%s list says that there are no records yet, and what to do next', async (topic, text) => {
    expect(await service.run([topic, 'list'])).toMatchObject({ code: 0, stdout: text, stderr: '' })
    expect(await service.json(topic, 'list')).toEqual({ data: [], next_cursor: null })
  })
})
