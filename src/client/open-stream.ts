import type { Reads } from './reads.ts'
import type { StreamMessage } from './views.ts'

/**
 * Opens the live stream; once this resolves, nothing that happens is missed. With `since`, what began then comes first.
 * @throws Unreachable or ApiError, or the signal's reason.
 */
export async function openStream(
  client: Pick<Reads, 'stream'>,
  signal: AbortSignal,
  since?: Date,
): Promise<AsyncGenerator<StreamMessage>> {
  let isOpen = () => {}
  const opened = new Promise<void>((resolve) => (isOpen = resolve))
  const stream = client.stream({ signal, onOpen: () => isOpen(), since })
  const first = stream.next()
  await Promise.race([opened, first])
  return resumed(first, stream)
}

async function* resumed(first: Promise<IteratorResult<StreamMessage>>, rest: AsyncGenerator<StreamMessage>) {
  const result = await first
  if (result.done === true) return
  yield result.value
  yield* rest
}
