import { expect, test } from 'vitest'
import { viewFeedback } from '../../src/model/guests/records.ts'
import { tableWith } from './guests-fixtures.ts'
import { noon, push } from './push-fixtures.ts'

test('feedback is stored and emits an event, also for a closed check, which does not change', () => {
  const table = tableWith(push({ status: 'closed' }))
  const before = table.everything()
  const { reply, writes, types, events } = table.rate({ rating: 4, comment: 'Nice.', guest_name: 'Noah' })
  expect(reply).toEqual({
    id: 'fbk_0002',
    check_id: table.check().id,
    external_check_id: 'c-1',
    location_id: 'loc_1',
    guest_name: 'Noah',
    rating: 4,
    comment: 'Nice.',
    created_at: noon.toISOString(),
  })
  expect(writes).toEqual([{ collection: 'feedback', put: reply }])
  expect(types).toEqual(['feedback.received'])
  expect(events[0]?.json).toBe(JSON.stringify(viewFeedback(reply)))
  expect(table.everything()).toBe(before)
})
