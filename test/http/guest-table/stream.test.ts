import { describe, expect, it, onTestFinished } from 'vitest'
import { openSimulator, type TestSimulator } from '../../support/simulator.ts'
import { ann, sitDown } from './table-page-fixtures.ts'

/** Subscribes to a table; each call waits for the next change. */
async function listenAt({ url }: TestSimulator, path: string) {
  const controller = new AbortController()
  onTestFinished(() => controller.abort())
  const response = await fetch(`${url}${path}/stream`, { signal: controller.signal })
  const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    headers: response.headers,
    async change(): Promise<boolean> {
      while (!text.includes('event: change\n')) {
        const { done, value } = await reader.read()
        if (done) return false
        text += value
      }
      text = text.slice(text.indexOf('event: change\n') + 1)
      return true
    },
  }
}

describe('the stream of a table', () => {
  it('reports a possible change at once, and then changes by pushes and guests', async () => {
    const simulator = await openSimulator()
    const table = await sitDown(simulator)
    const stream = await listenAt(simulator, table.path)
    expect(stream.headers.get('content-type')).toBe('text/event-stream')
    expect(await stream.change()).toBe(true)
    await simulator.push('a')
    expect(await stream.change()).toBe(true)
    const items = [{ external_id: 'burger', quantity: 1 }]
    await table.post(ann, '/claims', { external_check_id: 'a', items })
    expect(await stream.change()).toBe(true)
  })

  it('notifies only the two tables of a moved check', async () => {
    const simulator = await openSimulator()
    await simulator.push('a')
    const [from, to, other] = await Promise.all(
      ['12', '13', '14'].map(async (number) => listenAt(simulator, (await sitDown(simulator, number)).path)),
    )
    for (const stream of [from, to, other]) expect(await stream?.change()).toBe(true)
    await simulator.push('a', { table: { number: '13' } })
    expect(await from?.change()).toBe(true)
    expect(await to?.change()).toBe(true)
    await simulator.close()
    expect(await other?.change()).toBe(false)
  })

  it('notifies after a state is loaded', async () => {
    const simulator = await openSimulator()
    await simulator.push('a')
    const stream = await listenAt(simulator, (await sitDown(simulator)).path)
    await stream.change()
    await simulator.client.state.reset()
    expect(await stream.change()).toBe(true)
  })

  it('notifies of a check that came with a loaded state, and leaves the table', async () => {
    const simulator = await openSimulator()
    await simulator.push('a')
    const saved = await simulator.client.state.save()
    const { path } = await sitDown(simulator)
    await simulator.client.state.reset()
    const stream = await listenAt(simulator, path)
    expect(await stream.change()).toBe(true)
    await simulator.client.state.load(saved)
    expect(await stream.change()).toBe(true)
    await simulator.push('a', { table: { number: '13' } })
    expect(await stream.change()).toBe(true)
  })
})
