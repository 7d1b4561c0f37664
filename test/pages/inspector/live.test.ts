import { expect, it, vi } from 'vitest'
import { onLive, startStream } from '../../../src/pages/browser/inspector/live.ts'

it('makes the inspector read again after the service dropped messages', async () => {
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
