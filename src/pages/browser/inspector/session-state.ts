import { signal } from '@preact/signals'
import type { Location } from '../../../model/location.ts'

/** What the page knows of the service, once it may. */
export interface Session {
  service_name: string
  location: Location | null
}

/** The session of this page; before it is known, or when there is none, why. */
export const session = signal<Session | 'beginning' | 'none' | 'unreachable'>('beginning')
