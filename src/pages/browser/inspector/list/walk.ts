import { useLayoutEffect, useState } from 'preact/hooks'
import { address, go } from '../address.ts'
import { say } from '../announce.tsx'
import { onKeys } from '../keyboard.ts'
import { newestFirst, type End } from '../merge.ts'
import type { Rows } from '../rows.ts'
import type { View } from './view.ts'

export interface Walk<T> {
  /** The row that is walked to; -1 for none. */
  current: number
  /** Grows with each step, also one that leads to where one is. */
  turn: number
  goTo: (row: T) => void
}

/** `j` and `k` walk, Home and End lead to the newest and the oldest; Enter opens what is walked to, as any link does. */
export function useWalk<T extends { id: string }>(list: readonly T[], rows: Rows<T>, view: View<T>): Walk<T> {
  const [{ at, turn }, setStep] = useState<{ at?: string; turn: number }>({ turn: 0 })
  const current = at === undefined ? -1 : list.findIndex(({ id }) => id === at)
  const goTo = ({ id }: T) => setStep((step) => ({ at: id, turn: step.turn + 1 }))
  const walkTo = (row: T | undefined) => {
    if (row === undefined) return
    goTo(row)
    // What is read in full follows the walk.
    if (address.peek().open !== '') go({ open: view.opens(row) }, 'replace')
  }
  const walk = (step: number) => walkTo(list[Math.min(Math.max(current + step, 0), list.length - 1)])
  const jump = (end: End) =>
    rows.goTo(end, (loaded) => {
      walkTo(newestFirst(loaded).at(end === 'newest' ? 0 : -1))
      if (loaded.rows.length > 0) say(`The ${end} of ${view.title}.`)
    })
  // At once, so that a second key finds where the first has led.
  useLayoutEffect(() =>
    onKeys({ j: () => walk(1), k: () => walk(-1), Home: () => jump('newest'), End: () => jump('oldest') }),
  )
  return { current, turn, goTo }
}
