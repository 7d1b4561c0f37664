import { describe, expect, test } from 'vitest'
import type { ApiKey } from '../../src/model/api-key.ts'
import type { Location } from '../../src/model/records.ts'
import type { State } from '../../src/model/simulator/state.ts'
import { loadState, resetState } from '../../src/operations/state.ts'
import { check, delivery, endpoint, event } from '../store/records.ts'

const created_at = '2026-11-20T12:00:00.000Z'
const location = (id: string, name: string): Location => ({
  id,
  name,
  timezone: 'Europe/London',
  currency: 'GBP',
  created_at,
})
const key = (location_id: string): ApiKey => ({
  id: `key_${location_id}`,
  hash: 'h',
  name: 'key',
  scopes: ['read'],
  location_id,
  created_at,
  revoked_at: null,
})
const records = {
  checks: [check(1)],
  claims: [],
  payments: [],
  feedback: [],
  endpoints: [endpoint(1)],
  events: [event(1)],
}
const deliveries = [delivery(1)]
const current = {
  ...records,
  deliveries,
  locations: [location('loc_1', 'Bar'), location('loc_2', 'Roof'), location('loc_3', 'Yard')],
  keys: [key('loc_1'), key('loc_2'), key('loc_3')],
}

describe('loading a state', () => {
  const state: State = {
    format: 2,
    clock: { now: created_at, frozen: false },
    ...{
      checks: [check(2)],
      claims: [],
      payments: [],
      feedback: [],
      endpoints: [],
      events: [],
      deliveries: [],
    },
    locations: [location('loc_9', 'Roof'), location('loc_1', 'Renamed'), location('loc_8', 'Hall')],
  }

  test('replaces all records and keeps the keys', () => {
    const { format: _format, clock: _clock, ...of } = state
    expect(loadState(state)(current)).toEqual({ ...of, keys: expect.any(Array) as ApiKey[] })
  })

  test('keeps keys at their location, or moves them to the one of its name, or to the first', () => {
    const { keys } = loadState(state)(current)
    expect(keys.map(({ location_id }) => location_id)).toEqual(['loc_1', 'loc_9', 'loc_1'])
    expect(keys[0]).toBe(current.keys[0])
  })
})

test('resetting keeps only locations and keys', () => {
  const { locations, keys } = current
  const nothing = {
    checks: [],
    claims: [],
    payments: [],
    feedback: [],
    endpoints: [],
    events: [],
    deliveries: [],
  }
  expect(resetState(current)).toEqual({ locations, keys, ...nothing })
})
