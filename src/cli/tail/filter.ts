import type { Told } from './news.ts'

/** What is shown of all that happens. */
export interface Filter {
  type?: string | undefined
  endpoint?: string | undefined
  failed: boolean
  requests: boolean
}

export function passes(told: Told, { type, endpoint, failed, requests }: Filter): boolean {
  if (told.type === 'request') return requests
  const { data } = told
  if (type !== undefined && data.event_type !== type) return false
  if (endpoint !== undefined && data.endpoint_id !== endpoint) return false
  return !failed || !('attempt' in data) || data.attempt.outcome !== 'succeeded'
}
