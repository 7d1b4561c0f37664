import { expect, it, onTestFinished, vi } from 'vitest'
import { onLive, startStream, throttled } from '../../../src/pages/browser/inspector/live.ts'

it('the inspector reads again after the service dropped messages', async () => {
  // The stream stays open, because a closed one is opened again.
  const body = new ReadableStream<Uint8Array>({
    start: (stream) => stream.enqueue(new TextEncoder().encode('event: dropped\ndata: {"count":1}\n\n')),
  })
  vi.stubGlobal('fetch', async () => new Response(body))
  vi.stubGlobal('addEventListener', () => {})
  const received: string[] = []
  // One message as the stream opens, one for the dropped messages.
  await new Promise<void>((resolve) => {
    const stop = onLive(({ type }) => {
      if (received.push(type) < 2) return
      stop()
      resolve()
    })
    startStream()
  })
  vi.unstubAllGlobals()
  expect(received).toEqual(['return', 'return'])
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
