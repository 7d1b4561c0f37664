import type { ErrorAnswerName } from './errors.ts'
import type { HeaderName } from './headers.ts'
import type { Tag } from './info.ts'
import type { HeaderParameter } from './parameters.ts'

/** The documentation of a route beside what its row says: method, path, scope, query and body. */
export interface OperationDoc {
  /** In camelCase. Generators make it a method's name, so it never changes. */
  id: string
  tag: Tag
  summary: string
  /** Made for the inspector's page: it may change with the page, and clients leave it out. */
  internal?: true
  description?: string
  /** Headers of the request. */
  headers?: readonly HeaderParameter[]
  /** Successful answers, by status. */
  answers: Readonly<Record<number, AnswerDoc>>
  /** Errors beside those that follow from the route's scope and body, or in place of the one with the same status. */
  errors?: readonly ErrorAnswerName[]
}

export interface AnswerDoc {
  description: string
  /** Name of its component; of several names, the answer is one. Text that is not JSON has a type instead. An answer with neither has no body. */
  schema?: string | readonly string[]
  type?: string
  /** Headers beside the one that all answers have. */
  headers?: readonly HeaderName[]
}

/** The documentation of a list of these components (contract section 3). */
export function listDoc({ of, ...rest }: Omit<OperationDoc, 'answers'> & { of: string }): OperationDoc {
  return {
    ...rest,
    answers: { 200: { description: 'A page of the list, newest first.', schema: `${of}List` } },
  }
}
