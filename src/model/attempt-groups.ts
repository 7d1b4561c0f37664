import type { Attempt } from './delivery.ts'
import { groupAlike } from './group-alike.ts'

/** Groups consecutive attempts with the same result, oldest first. */
export function groupsOf(attempts: readonly Attempt[]): Attempt[][] {
  return groupAlike(attempts, isAlike)
}

function isAlike(one: Attempt, other: Attempt): boolean {
  return (
    one.outcome === other.outcome &&
    one.response_status === other.response_status &&
    one.error === other.error &&
    one.response_body === other.response_body &&
    String(one.faults) === String(other.faults)
  )
}
