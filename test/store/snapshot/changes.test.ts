import { describe, expect, it } from 'vitest'
import { createChanges, type Changes } from '../../../src/store/snapshot/changes.ts'
import { idOf } from '../records.ts'

const chk = (n: number) => idOf('chk', n)
const among = (changes: Changes, ...numbers: number[]) => numbers.map((n) => changes.has('checks', chk(n)))

describe('what has changed since the snapshot', () => {
  it('is what was put in the place of another, and nothing beside it', () => {
    const changes = createChanges()
    changes.put('checks', chk(2), false)
    expect(among(changes, 1, 2, 3)).toEqual([false, true, false])
  })

  it('is what came new, and not what was there', () => {
    const changes = createChanges()
    changes.put('checks', chk(4), true)
    changes.put('checks', chk(5), true)
    changes.put('checks', chk(5), false)
    expect(among(changes, 3, 4, 5, 6)).toEqual([false, true, true, true])
    expect(changes.has('events', idOf('evt', 9))).toBe(false)
  })

  it('is never less than that, when a clock was set back', () => {
    const changes = createChanges()
    changes.put('checks', chk(7), true)
    changes.put('checks', chk(3), true)
    expect(among(changes, 2, 3, 7)).toEqual([false, true, true])
  })

  it('is forgotten when a snapshot of its moment is on the disk, and what came later is not', () => {
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
