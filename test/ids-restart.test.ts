import { expect, test } from 'vitest'
import { createIdentifiers, createNewId } from '../src/ids.ts'
import { createRestarts } from '../src/simulator/sharing.ts'
import { createLocalValues } from '../src/store/shared-values.ts'
import type { CommitListener } from '../src/store/store.ts'

const noon = new Date('2026-11-21T12:00:00.000Z')

test('restarted identifiers sort after the newest existing one, even within the same millisecond', () => {
  let now = new Date(noon.getTime() + 60_000)
  const { newId, restartAfter } = createIdentifiers(() => now)
  const later = newId('chk')
  now = noon
  // Without a beginning, they never go back.
  expect(newId('chk') > later).toBe(true)
  for (let round = 0; round < 20; round++) {
    const there = createNewId(() => noon)('chk')
    restartAfter(there)
    const made = newId('chk')
    expect(made > there && made < later).toBe(true)
    expect(newId('chk') > made).toBe(true)
  }
})

test('identifiers restarted without existing ones follow the clock', () => {
  let now = new Date(noon.getTime() + 60_000)
  const { newId, restartAfter } = createIdentifiers(() => now)
  newId('chk')
  now = noon
  restartAfter(undefined)
  expect(newId('chk').slice(0, 14)).toBe(createNewId(() => noon)('chk').slice(0, 14))
})

test('a replacement restarts identifiers once its records are durable', () => {
  let now = new Date(noon.getTime() + 60_000)
  const identifiers = createIdentifiers(() => now)
  const listeners: CommitListener[] = []
  const { prepare } = createRestarts(
    {
      everything: () => Promise.reject(new Error('Only a shared store reads them.')),
      onCommit(listener) {
        listeners.push(listener)
        return () => undefined
      },
    },
    { ...identifiers, values: createLocalValues(), shared: undefined },
  )
  const later = identifiers.newId('chk')
  now = noon
  const newest = createNewId(() => noon)('chk')
  prepare(newest)
  // The replacement fails; another transaction commits.
  for (const listener of listeners) listener([], undefined, 1)
  expect(identifiers.newId('chk') > later).toBe(true)
  prepare(newest)
  for (const listener of listeners) listener([], 'replacement', 2)
  const made = identifiers.newId('chk')
  expect(made > newest && made < later).toBe(true)
})

test('restarted identifiers of a seed never repeat existing ones', () => {
  const { newId, restartAfter } = createIdentifiers(() => noon, 7)
  const before = Array.from({ length: 50 }, () => newId('chk'))
  restartAfter(undefined)
  const after = Array.from({ length: 50 }, () => newId('chk'))
  expect(new Set([...before, ...after]).size).toBe(100)
})

test('identifiers increase from the epoch on, and follow from their seed', () => {
  const make = () => {
    let now = 0
    const { newId } = createIdentifiers(() => new Date(now), 7)
    return [0, 0, 1, 1, 2, 1000].map((time) => {
      now = time
      return newId('evt')
    })
  }
  const made = make()
  expect([...new Set(made)].sort()).toEqual(made)
  expect(make()).toEqual(made)
})
