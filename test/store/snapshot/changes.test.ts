import { describe, expect, it } from 'vitest'
import { createChanges, type Changes } from '../../../src/store/snapshot/changes.ts'
import { idOf } from '../records.ts'

const chk = (n: number) => idOf('chk', n)
const among = (changes: Changes, ...numbers: number[]) => numbers.map((n) => changes.has('checks', chk(n)))

describe('changes since the snapshot', () => {
  it('contain replaced records and nothing else', () => {
    const changes = createChanges()
    changes.put('checks', chk(2), false)
    expect(among(changes, 1, 2, 3)).toEqual([false, true, false])
  })

  it('contain new records, and not existing ones', () => {
    const changes = createChanges()
    changes.put('checks', chk(4), true)
    changes.put('checks', chk(5), true)
    changes.put('checks', chk(5), false)
    expect(among(changes, 3, 4, 5, 6)).toEqual([false, true, true, true])
    expect(changes.has('events', idOf('evt', 9))).toBe(false)
  })

  it('are complete when a clock was set back', () => {
    const changes = createChanges()
    changes.put('checks', chk(7), true)
    changes.put('checks', chk(3), true)
    expect(among(changes, 2, 3, 7)).toEqual([false, true, true])
  })

  it('are dropped when a snapshot covers them; later ones are kept', () => {
    const changes = createChanges()
    changes.put('checks', chk(1), false)
    changes.put('checks', chk(5), true)
    const forget = changes.begin()
    changes.put('checks', chk(5), false)
    changes.put('checks', chk(8), true)
    expect(among(changes, 1, 5, 6, 8)).toEqual([true, true, true, true])
    forget()
    expect(among(changes, 1, 5, 6, 8)).toEqual([false, true, false, true])
  })
})
