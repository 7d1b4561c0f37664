import type { EventView } from '../../../../model/event-view.ts'
import { eventTypeFilter, type View } from '../list/view.ts'
import { TestEventButton } from '../test-event.tsx'

export const eventsView: View<EventView> = {
  name: 'events',
  title: 'Events',
  path: '/events',
  filters: [eventTypeFilter],
  isTimed: true,
  hint: 'Search ID, check, body',
  headings: ['Created', 'Event', 'Check', 'ID'],
  time: ({ created_at }) => created_at,
  cells: ({ id, type, external_check_id }) => [<b>{type}</b>, external_check_id ?? '–', <code>{id}</code>],
  opens: ({ id }) => id,
  follows: ['event'],
  empty: {
    title: 'No events yet',
    text: 'Pushes create events. So do guests who claim items, pay or rate.',
    action: TestEventButton,
    commands: ['tabwire trigger check.created'],
  },
}
