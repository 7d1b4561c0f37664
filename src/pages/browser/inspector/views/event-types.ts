import { eventTypes } from '../../../../model/event.ts'
import type { Filter } from '../list/view.ts'

/** By the type of an event, pings included. */
export const eventTypeFilter: Filter = {
  name: 'type',
  label: 'Event',
  choices: [...eventTypes, 'ping'].map((type) => [type, type] as const),
}
