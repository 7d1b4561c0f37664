import type { Basis } from '../report.ts'
import type { Target } from './target.ts'

interface About {
  group: string
  /** Unique in its group, in snake case. */
  id: string
  title: string
  /** The section of the specification, and its words in short. */
  section: string
}

/** A rule that can be broken. */
export interface CaseRule extends About {
  basis: Exclude<Basis, 'open'>
  /**
   * Shows that the same thing done correctly succeeds. When it does not, the case is not checked, since a service that
   * refuses or accepts everything would pass it. @throws Broken | NotChecked
   */
  control?: ((target: Target) => Promise<unknown>) | undefined
  /** @throws Broken when the rule is broken, NotChecked when that cannot be seen. */
  check(target: Target): Promise<void>
}

/** Something that the specification leaves open: the report says what was seen. */
interface Open extends About {
  observe(target: Target): Promise<string>
}

export type ContractCase = CaseRule | Open

/** Returns a maker of the rules of one group that rest on the specification; most of them share a control. */
export function rulesOf(group: string, usual: CaseRule['control']) {
  return (
    id: string,
    title: string,
    section: string,
    check: CaseRule['check'],
    control: CaseRule['control'] = usual,
  ): CaseRule => ({ group, id, title, basis: 'specification', section, control, check })
}
