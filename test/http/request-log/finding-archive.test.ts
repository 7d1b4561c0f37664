import { describe, expect, it } from 'vitest'
import {
  createFindingArchive,
  type RequestFinding,
  reportOf,
} from '../../../src/http/request-log/finding-archive.ts'
import { createPushSequence } from '../../../src/http/request-log/push-sequence.ts'

const at = (minute: number) => `2026-11-21T18:0${minute}:00.000Z`
const shown = (minute: number): RequestFinding => ({
  request: { id: `req_${minute}`, method: 'PUT', path: '/x', status: 200, started_at: at(minute) },
  finding: { code: 'unknown_field', message: 'm' },
})

describe('the archive of findings', () => {
  it('counts dropped findings, and a report says so', () => {
    const archive = createFindingArchive({ keepOfEach: 2 })
    for (const minute of [1, 2, 3, 4]) archive.keep(shown(minute))
    const findings = { shown: archive.kept(), counted: archive.counted }
    expect(archive.counted('unknown_field')).toEqual({ count: 2, first_at: at(1), last_at: at(2) })
    const summary = (since?: string) =>
      reportOf(findings, since).map(({ count, first_at, requests, includes_earlier }) => ({
        count,
        first_at,
        requests: requests.length,
        includes_earlier,
      }))
    expect(summary()).toEqual([{ count: 4, first_at: at(1), requests: 2, includes_earlier: false }])
    expect(summary(at(2))).toEqual([{ count: 4, first_at: at(1), requests: 2, includes_earlier: true }])
    expect(summary(at(4))).toEqual([{ count: 1, first_at: at(4), requests: 1, includes_earlier: false }])
    expect(summary(at(5))).toEqual([])
  })
})

describe('the sequence of pushes', () => {
  it('archives the oldest failure when too many wait for their repetition', () => {
    const forgotten: string[] = []
    const sequence = createPushSequence(({ request }) => forgotten.push(request.id), { keepLost: 2 })
    for (const id of ['1', '2', '3'])
      sequence.follow({
        id,
        method: 'PUT',
        path: `/v1/checks/external/${id}`,
        status: 503,
        started_at: at(1),
        duration_ms: 1,
        push: null,
        request_body: '{}',
        response_body: null,
      })
    expect(forgotten).toEqual(['1'])
    expect(sequence.lost().map(({ request }) => request.id)).toEqual(['2', '3'])
  })

  it('counts any later push as the repetition of one that failed before its key was accepted', () => {
    const sequence = createPushSequence(() => {})
    const push = {
      method: 'PUT',
      path: '/v1/checks/external/a',
      started_at: at(1),
      duration_ms: 1,
      push: null,
    }
    sequence.follow({ ...push, id: '1', status: 503, request_body: null, response_body: null })
    const continued = createPushSequence(() => {}, { saved: sequence.save() })
    for (const each of [sequence, continued]) {
      expect(each.lost()).toHaveLength(1)
      each.follow({
        ...push,
        id: '2',
        status: 201,
        location_id: 'loc_1',
        request_body: '{}',
        response_body: '{}',
      })
      expect(each.lost()).toEqual([])
    }
  })
})
