import { isSelected, unknownNames, type Selection } from '../../conformance/report/select.ts'
import { usageError } from '../errors.ts'
import { listed } from '../flags.ts'

interface Asked {
  only: readonly string[] | undefined
  skip: readonly string[] | undefined
}

/**
 * The cases that `--only` and `--skip` leave.
 * @throws CommandError (usage) when a name names none, or none is left.
 */
export function chosenCases<T extends { group: string; id: string }>(
  cases: readonly T[],
  { only, skip }: Asked,
): T[] {
  const selection: Selection = { only: listed(only ?? []), skip: listed(skip ?? []) }
  const [unknown] = unknownNames(cases, selection)
  const groups = [...new Set(cases.map(({ group }) => group))].join(', ')
  if (unknown !== undefined)
    throw usageError(
      `There is no case or group ${unknown}. The groups are ${groups}; the report names the cases.`,
    )
  const left = cases.filter((one) => isSelected(one, selection))
  if (left.length === 0) throw usageError('--only and --skip leave no case to check.')
  return left
}
