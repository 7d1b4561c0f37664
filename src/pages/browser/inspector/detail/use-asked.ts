import { useEffect, useState } from 'preact/hooks'
import { ask } from '../ask.ts'
import { onNews, throttled } from '../news.ts'

/** Milliseconds between two looks at the same thing. */
const REFRESH_MS = 500

/** What was asked for, once it has come; or why it has not. */
export interface Asked<T> {
  value?: T
  problem?: string
}

/** Something of the service, as it is now: looked at again whenever something has happened. */
export function useAsked<T>(path: string): Asked<T> {
  const [state, setState] = useState<Asked<T>>({})
  useEffect(() => {
    let ended = false
    const show = (found: Asked<T>) => {
      if (!ended) setState(found)
    }
    const look = throttled(() => {
      ask<T>('GET', path).then(
        (value) => show({ value }),
        (error: unknown) => show({ problem: error instanceof Error ? error.message : String(error) }),
      )
    }, REFRESH_MS)
    look()
    const stop = onNews(look)
    return () => {
      ended = true
      stop()
    }
  }, [path])
  return state
}
