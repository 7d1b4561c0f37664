import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import {
  type LiveMessage,
  onLive,
  startStream,
  throttled,
} from '../../../src/pages/browser/inspector/live.ts'

afterEach(() => vi.unstubAllGlobals())

/** Stubs a page whose streams send this text and then stay open; returns their signals. */
function stubPage(text = '', hidden = false) {
  const signals: AbortSignal[] = []
  const page = Object.assign(new EventTarget(), { hidden })
  vi.stubGlobal('document', page)
  vi.stubGlobal('addEventListener', () => {})
  vi.stubGlobal('fetch', async (_path: string, { signal }: { signal: AbortSignal }) => {
    signals.push(signal)
    // A closed stream is opened again.
    const body = new ReadableStream<Uint8Array>({
      start(stream) {
        stream.enqueue(new TextEncoder().encode(text))
        signal.addEventListener('abort', () => stream.error(signal.reason))
      },
    })
    return new Response(body)
  })
  const show = (isVisible: boolean) => {
    page.hidden = !isVisible
    page.dispatchEvent(new Event('visibilitychange'))
  }
  return { signals, show }
}

/** Starts the stream; resolves with the first two messages. The first one is published as the stream opens. */
function firstTwo(): Promise<LiveMessage[]> {
  const received: LiveMessage[] = []
  return new Promise((resolve) => {
    const stop = onLive((message) => {
      if (received.push(message) < 2) return
      stop()
      resolve(received)
    })
    startStream()
  })
}

it('the inspector reads again after the service dropped messages', async () => {
  stubPage('event: dropped\ndata: {"count":1}\n\n')
  expect((await firstTwo()).map(({ type }) => type)).toEqual(['return', 'return'])
})

it('the inspector gets a text with a line separator in the stream that is open', async () => {
  const data = { name: 'Soup\u2028of the day' }
  const { signals } = stubPage(`id: 1\nevent: event\ndata: ${JSON.stringify(data)}\n\n`)
  expect((await firstTwo())[1]).toEqual({ type: 'event', data })
  expect(signals).toHaveLength(1)
})

it('the inspector has a stream only while its page is visible', async () => {
  const { signals, show } = stubPage('', true)
  startStream()
  await new Promise((resolve) => setImmediate(resolve))
  expect(signals).toEqual([])
  show(true)
  await expect.poll(() => signals).toHaveLength(1)
  show(false)
  expect(signals[0]?.aborted).toBe(true)
  show(true)
  await expect.poll(() => signals).toHaveLength(2)
})

it('the inspector reads at once, then once per interval, and less often when a read takes long', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  let reads = 0
  let readMs = 0
  const read = throttled(async () => {
    reads += 1
    await new Promise((resolve) => setTimeout(resolve, readMs))
  }, 500)
  const messagesFor = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 5) {
      read()
      await vi.advanceTimersByTimeAsync(5)
    }
  }
  read()
  expect(reads).toBe(1)
  // 200 messages per second, as of 50 pushes.
  await messagesFor(5_000)
  expect(reads).toBeLessThanOrEqual(11)
  readMs = 1_000
  reads = 0
  await messagesFor(20_000)
  expect(reads).toBeLessThanOrEqual(6)
  expect(reads).toBeGreaterThanOrEqual(4)
})
