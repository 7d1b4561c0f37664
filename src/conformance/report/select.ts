/** What can be named by `--only` and `--skip`. */
interface Named {
  group: string
  id: string
}

/** Names, each of a group, of a case, or of both as `group/case`. An absent `only` means all. */
export interface Selection {
  only?: readonly string[] | undefined
  skip?: readonly string[] | undefined
}

/** Whether a case was asked for. */
export function isSelected(one: Named, { only = [], skip = [] }: Selection): boolean {
  const named = (name: string) => namesOf(one).includes(name)
  return (only.length === 0 || only.some(named)) && !skip.some(named)
}

/** The names of a selection that name nothing: slips of the keyboard, which would silently check less or more. */
export function unknownNames(cases: readonly Named[], { only = [], skip = [] }: Selection): string[] {
  const known = new Set(cases.flatMap(namesOf))
  return [...only, ...skip].filter((name) => !known.has(name))
}

function namesOf({ group, id }: Named): string[] {
  return [group, id, `${group}/${id}`]
}
