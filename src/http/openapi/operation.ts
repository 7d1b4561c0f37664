import type { ErrorAnswerName } from './errors.ts'
import type { HeaderName } from './headers.ts'
import type { HeaderParameter, QueryParameter } from './parameters.ts'
import type { Tag } from './tags.ts'

/** What the document says of a route beside what its row in the route table says. */
export interface OperationDoc {
  /** In camelCase: generators make it a method's name, so it never changes. */
  id: string
  tag: Tag
  summary: string
  /** Made for the inspector's page: it may change with the page, and clients leave it out. */
  internal?: true
  description?: string
  query?: readonly QueryParameter[]
  /** Headers of the request. */
  headers?: readonly HeaderParameter[]
  /** The component of the body. */
  body?: string
  /** Answers but errors, by status. */
  answers: Readonly<Record<number, AnswerDoc>>
  /** Errors beside those that follow from the route's scope and body, or in place of the one with the same status. */
  errors?: readonly ErrorAnswerName[]
}

export interface AnswerDoc {
  description: string
  /** Its component; of several, it is one. A text that is no JSON has a type instead; what has neither has no body. */
  schema?: string | readonly string[]
  type?: string
  /** Headers beside the one that all answers have. */
  headers?: readonly HeaderName[]
}

/** By method and path, as in the route table: `GET /checks`. */
export type OperationDocs = Readonly<Record<string, OperationDoc>>

/** The docs of a list of these components (contract section 3). */
export function listDoc({ of, ...rest }: Omit<OperationDoc, 'answers'> & { of: string }): OperationDoc {
  return {
    ...rest,
    answers: { 200: { description: 'A page of the list, newest first.', schema: `${of}List` } },
  }
}
