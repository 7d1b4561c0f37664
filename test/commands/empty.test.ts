import { beforeAll, describe, expect, test } from 'vitest'
import { startService, type RunningService } from '../support/cli.ts'

let service: RunningService
beforeAll(async () => {
  service = await startService(['--in-memory'])
  return async () => void (await service.stop())
})

const register = 'tabwire endpoints create URL --events check.created'

describe.concurrent('of a fresh service', () => {
  test.each([
    ['endpoints', `No webhook endpoints yet. Register one with: ${register}\n`],
    ['deliveries', `No deliveries yet. Register a receiver with: ${register}\n`],
  ])('%s list says that there are none yet, and what to do', async (topic, text) => {
    expect(await service.run([topic, 'list'])).toMatchObject({ code: 0, stdout: text, stderr: '' })
    expect(await service.json(topic, 'list')).toEqual({ data: [], next_cursor: null })
  })
})
