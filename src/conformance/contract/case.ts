import type { Site } from './site.ts'
import type { Need } from './seen.ts'

export { Broken, must, NotChecked } from './seen.ts'

interface About {
  group: string
  /** Unique in its group. */
  id: string
  title: string
  /** The section of the specification, and its words in short. */
  section: string
  needs?: readonly Need[]
}

/** A rule of the specification, which `check` sees broken by throwing {@link Broken}. */
export interface Rule extends About {
  check(site: Site): Promise<void>
}

/** Something that the specification leaves open: what is seen is told. */
export interface Open extends About {
  observe(site: Site): Promise<string>
}

export type ContractCase = Rule | Open
