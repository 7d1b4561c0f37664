import type { ErrorAnswerName } from './errors.ts'
import type { HeaderName } from './headers.ts'
import type { Tag } from './info.ts'
import type { HeaderParameter } from './parameters.ts'

/** Documentation of a route, besides the method, path, scope, query and body of its row. */
export interface OperationDoc {
  /** Operation id in camelCase. Generators use it as method name, so it never changes. */
  id: string
  tag: Tag
  summary: string
  /** True for operations of the inspector's page and of `tabwire listen`, which may change and which clients omit. */
  internal?: true
  description?: string
  /** Headers of the request. */
  headers?: readonly HeaderParameter[]
  /** Successful responses by status. */
  answers: Readonly<Record<number, AnswerDoc>>
  /** Additional errors, which replace errors with the same status that follow from scope and body. */
  errors?: readonly ErrorAnswerName[]
}

export interface AnswerDoc {
  description: string
  /**
   * Name of the schema component, or several alternatives. Responses other than JSON have `type`. Without both, there is no
   * body.
   */
  schema?: string | readonly string[]
  type?: string
  /** Headers besides `X-Request-Id`. */
  headers?: readonly HeaderName[]
}

/** Returns the documentation of a list of these components (contract section 3). */
export function listDoc({ of, ...rest }: Omit<OperationDoc, 'answers'> & { of: string }): OperationDoc {
  // Lists of the simulator also take `order=asc`.
  const order = rest.tag.startsWith('Simulator') ? '' : ', newest first'
  return { ...rest, answers: { 200: { description: `A page of the list${order}.`, schema: `${of}List` } } }
}
