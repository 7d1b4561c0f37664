import type { ViewName } from '../address.ts'
import type { View } from '../list/view.ts'
import { checksView } from './checks.tsx'
import { deliveriesView } from './deliveries.tsx'
import { endpointsView } from './endpoints.tsx'
import { eventsView } from './events.tsx'
import { pushesView, requestsView } from './requests.tsx'

/** Every list, by its name in the address. */
export const views: Record<Exclude<ViewName, 'controls'>, View<never>> = {
  checks: checksView as View<never>,
  pushes: pushesView as View<never>,
  events: eventsView as View<never>,
  deliveries: deliveriesView as View<never>,
  endpoints: endpointsView as View<never>,
  requests: requestsView as View<never>,
}
