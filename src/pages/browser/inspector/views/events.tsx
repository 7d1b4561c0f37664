import type { EventView } from '../../../../model/event-view.ts'
import { eventTypeFilter, type View } from '../list/view.ts'
import type { PushInput } from '../../../../model/check.ts'
import { act } from '../actions.ts'
import { callApi } from '../api.ts'
import { Action } from '../elements.tsx'
import { RegisterButton } from '../endpoint-actions.tsx'
import { endpoints } from './endpoints.tsx'

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

const sample: PushInput = {
  table: { number: '12' },
  status: 'open',
  items: [
    { external_id: 'line-1', name: 'Skillet Cornbread', quantity: 1, price_cents: 900 },
    { external_id: 'line-2', name: 'Lemonade', quantity: 2, price_cents: 450 },
  ],
  totals: { subtotal_cents: 1_800, tax_cents: 0, total_cents: 1_800 },
}

/** Pushes a sample check, which creates the event `check.created`. */
function sendTestEvent(): void {
  void act(async () => {
    const id = `test-${Date.now().toString(36)}`
    await callApi('PUT', `/checks/${id}`, sample)
    return `Sent check.created for the check ${id}.`
  })
}

export function TestEventButton() {
  return (
    <Action kind="main" onClick={sendTestEvent}>
      Send a test event
    </Action>
  )
}

/** The next step to a first delivery: an endpoint, then an event. */
export function FirstStep() {
  return endpoints.value.size === 0 ? <RegisterButton /> : <TestEventButton />
}
