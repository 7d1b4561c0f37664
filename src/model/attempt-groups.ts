import type { Attempt } from './delivery.ts'

/** Groups consecutive attempts with the same result, oldest first. */
export function groupsOf(attempts: readonly Attempt[]): Attempt[][] {
  const groups: Attempt[][] = []
  for (const attempt of attempts) {
    const group = groups.at(-1)
    if (group?.[0] !== undefined && isAlike(group[0], attempt)) group.push(attempt)
    else groups.push([attempt])
  }
  return groups
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
