import { timers } from '../timers.ts'

/** A body of chunks of text: a single one whole, several as a stream that makes the next one when there is room for it. */
export function textBody(chunks: Iterable<string>): string | ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.iterator]()
  const first = iterator.next().value as string
  let next = iterator.next()
  if (next.done === true) return first
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(first)),
    async pull(controller) {
      if (next.done === true) return controller.close()
      controller.enqueue(encoder.encode(next.value))
      await timers.nextTurn()
      next = iterator.next()
    },
  })
}
