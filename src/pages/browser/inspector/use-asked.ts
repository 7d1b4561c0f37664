import { useEffect, useState, type StateUpdater } from 'preact/hooks'
import { Refused } from '../call.ts'
import { ask } from './ask.ts'
import { onNews, throttled } from './news.ts'

/** What was asked for, once it has come; or why it has not. */
export interface Asked<T> {
  value?: T
  problem?: string
}

/**
 * Something of the service, as it is now: looked at again whenever something has happened, at most once in so many
 * milliseconds.
 */
export function useAsked<T>(path: string, everyMs = 500): Asked<T> {
  const [state, setState] = useState<Asked<T>>({})
  useEffect(() => {
    let asked = 0
    let shown = 0
    const look = throttled(() => {
      const turn = ++asked
      // An answer can be overtaken by a later one, and would show what was.
      const show = (found: StateUpdater<Asked<T>>) => {
        if (turn > shown) setState(found)
        shown = Math.max(shown, turn)
      }
      ask<T>('GET', path).then(
        (value) => show({ value }),
        (error: unknown) => {
          const problem = error instanceof Error ? error.message : String(error)
          // One look that failed takes nothing away that is shown, and no form that is half filled in.
          if (error instanceof Refused && error.code === 'unreachable') show((last) => ({ ...last, problem }))
          else show({ problem })
        },
      )
    }, everyMs)
    look()
    const stop = onNews(look)
    return () => {
      shown = Infinity
      stop()
    }
  }, [path])
  return state
}
