import { signal } from '@preact/signals'
import { pageHeader } from './page-secret.ts'
import { stream, type Connection } from './stream.ts'

/** Something that happened: as the stream tells it, or `return` when something may have been missed. */
export interface News {
  type: 'request' | 'event' | 'attempt' | 'delivery' | 'reset' | 'return'
  data: unknown
}

export const connection = signal<Connection>('reconnecting')

const listeners = new Set<(news: News) => void>()

/** Told of all news until the result is called. */
export function onNews(listener: (news: News) => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

function tell(news: News): void {
  for (const listener of listeners) listener(news)
}

/** What the page did itself may be told nowhere else. */
export function tellReturn(): void {
  tell({ type: 'return', data: {} })
}

export function startListening(): void {
  stream({
    url: '/_sim/stream',
    headers: pageHeader,
    onMessage: (type, data) =>
      type === 'dropped' ? tellReturn() : tell({ type: type as News['type'], data }),
    onReturn: tellReturn,
    onConnection: (state) => (connection.value = state),
  })
}

/** Runs `work` at once, and then once more at the most every so many milliseconds, however often it is called for. */
export function throttled(work: () => void, everyMs: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let wanted = false
  const run = () => {
    wanted = false
    work()
    timer = setTimeout(() => {
      timer = undefined
      if (wanted) run()
    }, everyMs)
  }
  return () => {
    if (timer === undefined) run()
    else wanted = true
  }
}
