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
