import { describe, expect, it } from 'vitest'
import { check, errorOf, openSimulator, rawHeaders } from '../support/simulator.ts'

describe('a path with a dot segment, which programs resolve differently,', () => {
  it.each(['..', '.', '%2E%2E', '%2e', '.%2E', 'e/%2E%2E/f'])('is refused: %s', async (segments) => {
    const simulator = await openSimulator()
    const answer = await simulator.raw(
      `GET /v1/checks/external/${segments} HTTP/1.1\r\n${rawHeaders(simulator)}\r\n`,
    )
    expect(answer.status).toBe(400)
    expect(errorOf(answer).code).toBe('invalid_path')
    expect((await simulator.client.checks.list()).data).toEqual([])
  })

  it.each(['q=/..', 'q=a/./b'])('is none in a query: %s', async (query) => {
    const simulator = await openSimulator()
    expect((await simulator.call(`GET /v1/checks?${query}`)).status).toBe(200)
  })

  it('writes no other check', async () => {
    const simulator = await openSimulator()
    const body = JSON.stringify(check())
    const head = `PUT /v1/checks/external/e/%2E%2E/f HTTP/1.1\r\n${rawHeaders(simulator)}`
    const headers = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`
    expect((await simulator.raw(`${head}${headers}\r\n${body}`)).status).toBe(400)
    expect((await simulator.client.checks.list()).data).toEqual([])
  })
})
