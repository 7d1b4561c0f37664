import { expect, it, vi } from 'vitest'
import { onLive, startStream } from '../../../src/pages/browser/inspector/live.ts'

it('makes the inspector read again after the service dropped messages', async () => {
  // The stream stays open, so that it is not asked for again.
  const body = new ReadableStream<Uint8Array>({
    start: (stream) => stream.enqueue(new TextEncoder().encode('event: dropped\ndata: {"count":1}\n\n')),
  })
  vi.stubGlobal('fetch', async () => new Response(body))
  vi.stubGlobal('addEventListener', () => {})
  const heard: string[] = []
  // Once as the stream opens, and once for what was dropped.
  await new Promise<void>((resolve) => {
    const stop = onLive(({ type }) => {
      if (heard.push(type) < 2) return
      stop()
      resolve()
    })
    startStream()
  })
  vi.unstubAllGlobals()
  expect(heard).toEqual(['return', 'return'])
})
