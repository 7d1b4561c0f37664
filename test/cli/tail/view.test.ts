import { expect, test } from 'vitest'
import type { AttemptMessage } from '../../../src/client.ts'
import {
  keysIn,
  chosenOf,
  newView,
  passes,
  press,
  take,
  waitingNow,
  type View,
} from '../../../src/cli/tail/view.ts'
import type { TailMessage } from '../../../src/cli/tail/watch.ts'

const attempt = (id: string, outcome = 'succeeded') =>
  ({
    type: 'attempt',
    data: { id, event_type: 'check.created', external_check_id: id, attempt: { outcome } } as AttemptMessage,
  }) as TailMessage
const after = (view: View, ...told: TailMessage[]) => told.reduce((now, one) => take(now, one).view, view)

test('messages during a pause wait, and are shown in order when it ends', () => {
  const paused = after(press(newView(false), 'pause').view, attempt('a'), attempt('b', 'timeout'))
  expect([paused.shown, waitingNow(paused)]).toEqual([0, 2])
  const { view, show } = press(paused, 'pause')
  expect(show.map(({ data }) => data.id)).toEqual(['a', 'b'])
  expect(view).toMatchObject({ paused: false, shown: 2, failed: 1, waiting: [] })
})

test('the failure filter applies to new and to waiting messages', () => {
  const view = press(press(newView(false), 'pause').view, 'filter').view
  const waiting = after(view, attempt('a'), attempt('b', 'timeout'))
  expect(waitingNow(waiting)).toBe(1)
  expect(press(waiting, 'pause').show.map(({ data }) => data.id)).toEqual(['b'])
  expect(take(newView(true), attempt('a')).show).toEqual([])
})

test('the newest delivery is chosen by default; one that the user chose stays chosen when others arrive', () => {
  const view = after(newView(false), attempt('a'), attempt('b'), attempt('b'), attempt('c'))
  expect(chosenOf(view)?.id).toBe('c')
  const older = press(press(view, 'older').view, 'older').view
  expect(chosenOf(older)?.id).toBe('a')
  expect(chosenOf(press(older, 'older').view)?.id).toBe('a')
  expect(chosenOf(after(older, attempt('d')))?.id).toBe('a')
  expect(chosenOf(newView(false))).toBeUndefined()
})

test('a pause keeps the newest 5,000 messages, and counts the dropped ones', () => {
  const many = Array.from({ length: 5_003 }, (_, number) => attempt(`d${number}`))
  const view = after(press(newView(false), 'pause').view, ...many)
  expect([waitingNow(view), view.dropped, view.waiting[0]?.data.id]).toEqual([5_000, 3, 'd3'])
})

test.each([
  ['p', ['pause']],
  ['F?', ['filter', 'help']],
  ['\u001b[A\u001b[B\u001bOA', ['older', 'newer', 'older']],
  ['\u0003', ['interrupt']],
  ['x\u001b[5~ñ🍣', []],
])('%j is read as the keys %j', (sent, keys) => {
  expect(keysIn(sent)).toEqual(keys)
})

const request = (status: number) => ({ type: 'request', data: { id: 'req_1', status } }) as TailMessage
const delivery = { type: 'delivery', data: { id: 'a', event_type: 'check.created' } } as TailMessage

test('requests with an error and deliveries that ended count as failed; requests are not chosen', () => {
  const view = after(newView(false), request(200), request(400), delivery, attempt('b'))
  expect(view).toMatchObject({ shown: 4, failed: 2 })
  expect(view.recent.map(({ id }) => id)).toEqual(['b', 'a'])
  expect(after(newView(true), request(500), delivery).shown).toBe(1)
})

test.each([
  [{}, [false, true, true, true]],
  [{ requests: true }, [true, true, true, true]],
  [{ failed: true }, [false, false, true, true]],
  [{ type: 'check.created' }, [false, true, true, true]],
  [{ type: 'check.closed', requests: true }, [true, false, false, false]],
  [{ endpoint: 'we_1' }, [false, false, false, false]],
])('the filter %j passes requests, attempts and ends of deliveries so: %j', (filter, passed) => {
  expect(
    [request(200), attempt('a'), attempt('b', 'timeout'), delivery].map((message) =>
      passes(message, { failed: false, requests: false, ...filter }),
    ),
  ).toEqual(passed)
})

test('the filter for an endpoint passes its own deliveries', () => {
  const { data } = attempt('a')
  const own = { type: 'attempt', data: { ...data, endpoint_id: 'we_1' } } as TailMessage
  const passed = ['we_1', 'we_2'].map((endpoint) => passes(own, { endpoint, failed: false, requests: false }))
  expect(passed).toEqual([true, false])
})
