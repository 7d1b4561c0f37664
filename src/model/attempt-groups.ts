import type { Attempt } from './delivery.ts'

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

/** Groups consecutive items that are like the first of their group; keeps the order. */
export function groupAlike<T>(items: readonly T[], isAlike: (first: T, other: T) => boolean): T[][] {
  const groups: T[][] = []
  for (const item of items) {
    const group = groups.at(-1)
    if (group?.[0] !== undefined && isAlike(group[0], item)) group.push(item)
    else groups.push([item])
  }
  return groups
}
