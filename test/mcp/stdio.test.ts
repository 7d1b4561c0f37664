import { readdir } from 'node:fs/promises'
import { afterEach, expect, test } from 'vitest'
import { isSoak, sampled } from '../soak/seeded.ts'
import { emptyDirectory, serve, spawnTabwire, type Running } from '../support/cli.ts'

interface Message {
  jsonrpc: string
  id: number | string | null
  result?: unknown
  error?: { code: number; message: string }
}

let running: Running
afterEach(() => void running.child.kill('SIGKILL'))

/** Starts the server for raw lines. */
async function open(cwd?: string) {
  running = await spawnTabwire(['mcp'], { keepInput: true, ...(cwd !== undefined && { cwd }) })
  const { child } = running
  const lines: Message[] = []
  let rest = ''
  child.stdout?.on('data', (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop() ?? ''
    // Whatever is not JSON fails here.
    lines.push(...parts.map((line) => JSON.parse(line) as Message))
  })
  return {
    lines,
    send: (text: string) => void child.stdin?.write(`${text}\n`),
    next: async (count: number) => {
      await expect.poll(() => lines.length, { timeout: 15_000 }).toBeGreaterThanOrEqual(count)
      return lines
    },
    end: () => void child.stdin?.end(),
  }
}

const request = (id: number, method: string, params: object = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })

const initialize = request(0, 'initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
})

test('invalid lines get an error response, and the connection stays open', async () => {
  const { send, next } = await open()
  send(initialize)
  await next(1)
  const wrong = [
    '{',
    '[]',
    '"text"',
    '{"jsonrpc":"1.0","id":5,"method":"ping"}',
    `"${'x'.repeat(1_100_000)}"`,
  ]
  for (const line of wrong) send(line)
  send(request(6, 'no/such/method'))
  send('')
  send(request(7, 'tools/call', { arguments: {} }))
  send(request(8, 'tools/call', { name: 'checks', arguments: 'x' }))
  send(request(9, 'ping'))
  const [, ...answers] = await next(10)
  const byId = answers.toSorted((one, other) => Number(one.id) - Number(other.id))
  expect(byId.map(({ id, error }) => [id, error?.code, error?.message])).toEqual(
    expect.arrayContaining([
      [null, -32700, 'The message is not valid JSON. Send one JSON-RPC message per line.'],
      [null, -32600, 'The message is not a JSON-RPC 2.0 request, notification or response.'],
      [5, -32600, 'The message is not a JSON-RPC 2.0 request, notification or response.'],
      [null, -32600, 'The message is longer than the limit of 1048576 bytes. Send a shorter one.'],
      [6, -32601, 'Method not found'],
      [7, -32602, expect.stringContaining('name') as string],
      [8, -32602, expect.stringContaining('arguments') as string],
      [9, undefined, undefined],
    ]),
  )
  expect(answers).toHaveLength(9)
})

test('the server answers requests before the end of input, then exits with 0 and leaves no file', async () => {
  const cwd = await emptyDirectory()
  const { send, end } = await open(cwd)
  send(initialize)
  send(request(1, 'tools/list'))
  send(request(2, 'ping'))
  end()
  const { code, stdout, stderr } = await running.ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as Message).id),
  ).toEqual([0, 1, 2])
  expect(await readdir(cwd)).toEqual([])
})

/** Windows has no signals that a process can handle. */
const endings =
  process.platform === 'win32'
    ? (['end of the input'] as const)
    : sampled(['end of the input', 'SIGTERM', 'SIGINT'] as const, 2)

test.each(endings)('%s ends a waiting call', async (way) => {
  const service = await serve()
  const { send, next, end } = await open(service.cwd)
  send(initialize)
  await next(1)
  const waits = { name: 'deliveries_wait', arguments: { timeout: 50 } }
  send(request(1, 'tools/call', waits))
  send(request(2, 'tools/call', { name: 'checks' }))
  await next(2)
  if (way === 'end of the input') end()
  else running.child.kill(way)
  expect(await running.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
  await service.stop()
})

test.runIf(isSoak)('a cancelled call gets no response', async () => {
  const service = await serve()
  const { send, next, end } = await open(service.cwd)
  send(initialize)
  await next(1)
  send(request(1, 'tools/call', { name: 'deliveries_wait', arguments: { timeout: 50 } }))
  send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }))
  send(request(2, 'ping'))
  expect((await next(2)).map(({ id }) => id)).toEqual([0, 2])
  end()
  expect(await running.ended).toMatchObject({ code: 0 })
  await service.stop()
})

test.runIf(isSoak)('the server exits with 0 when its reader closes the pipe', async () => {
  const { send, next } = await open()
  send(initialize)
  await next(1)
  running.child.stdout?.destroy()
  send(request(1, 'ping'))
  expect(await running.ended).toMatchObject({ code: 0 })
})

test('a wrong URL ends the server with 2 before the first request', async () => {
  running = await spawnTabwire(['mcp', '--url', 'nope'])
  const { code, stdout, stderr } = await running.ended
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('--url must be an http: or https: URL such as http://127.0.0.1:4100, got "nope".')
})

test('messages go to stderr: a wrong flag prints nothing on stdout', async () => {
  running = await spawnTabwire(['mcp', '--url', 'nonsense', '--port', '1'])
  const { code, stdout, stderr } = await running.ended
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/--port/)
})
