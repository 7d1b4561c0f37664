import { errorName } from '../../src/http/openapi/errors.ts'
import { unroutedCodes } from '../../src/http/refusals.ts'
import type { PublishedAnswer } from '../../src/http/app.ts'
import { closed, issuesOf, schemasOf } from './openapi-schemas.ts'

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>
  components: {
    responses: Record<string, Response>
    schemas: Record<string, object>
    headers: Record<string, Header>
    examples: Record<string, { value: unknown }>
  }
}
interface Operation {
  requestBody?: unknown
  responses: Record<string, Response | { $ref: string }>
}
interface Response {
  headers?: Record<string, { $ref: string }>
  content?: Record<string, unknown>
}
interface Header {
  required?: boolean
  schema: { type: string }
}

/**
 * Finds in what an answer is not as the document says: none of its statuses, not its headers, not its schema, or a field
 * that the schema does not know. A request that was accepted must be one that the document allows.
 */
export function createJudge(document: OpenApi): (answer: PublishedAnswer) => string[] {
  const { paths, components } = document
  const asked = schemasOf(document)
  const answered = schemasOf(closed(document))
  const patterns = Object.keys(paths).map((path) => ({ path, pattern: patternOf(path) }))

  function responseIssues(at: string, documented: Operation['responses'][string], answer: PublishedAnswer) {
    const isShared = '$ref' in documented
    const pointer = isShared ? documented.$ref.slice(1) : `${at}/responses/${answer.status}`
    const response = isShared ? components.responses[nameOf(documented.$ref)] : documented
    const [type] = Object.keys(response?.content ?? {})
    if (answer.headers['content-type']?.split(';')[0] !== type) return [`is not of type ${type}`]
    const issues = Object.entries(response?.headers ?? {}).flatMap(([name, { $ref }]) =>
      headerIssues(name, $ref, answer.headers),
    )
    // A response in chunks is never whole here.
    if (type !== 'application/json' || typeof (answer.body ?? '') === 'object') return issues
    return [...issues, ...issuesOf(answered(`${pointer}/content/application~1json/schema`), answer.body)]
  }

  function headerIssues(name: string, ref: string, headers: PublishedAnswer['headers']): string[] {
    const { required, schema } = components.headers[nameOf(ref)] ?? { schema: { type: 'string' } }
    const value = headers[name.toLowerCase()]
    if (value === undefined) return required === true ? [`has no ${name}`] : []
    const isRight = answered(`${ref.slice(1)}/schema`)(schema.type === 'integer' ? Number(value) : value)
    return isRight ? [] : [`has ${name}: ${value}`]
  }

  function requestIssues(
    at: string,
    { requestBody }: Operation,
    { request, status }: PublishedAnswer,
  ): string[] {
    const body = request?.body ?? null
    if (status >= 300 || body === null || requestBody === undefined) return []
    const validate = asked(`${at}/requestBody/content/application~1json/schema`)
    return issuesOf(validate, body).map((issue) => `accepts a request whose body ${issue}`)
  }

  /** Where there is no operation, there is still an error of its code's kind. */
  function errorIssues({ status, body }: PublishedAnswer): string[] {
    if (status < 400) return ['is not documented']
    if (typeof body !== 'string') return ['has no body']
    const { code } = (JSON.parse(body) as { error: { code: string } }).error
    if (!(errorName(code) in components.schemas))
      return unrouted.includes(code) ? [] : [`has the code ${code}`]
    return issuesOf(answered(`/components/schemas/${errorName(code)}`), body)
  }

  return (answer) => {
    const { request, status, headers, body } = answer
    if (request === null) return errorIssues(answer)
    if (!/^req_[0-9A-Z]{26}$/.test(headers['x-request-id'] ?? '')) return ['has no X-Request-Id']
    // An address without its token is answered as one with a wrong token.
    const pathname = request.path.split('?', 1)[0]?.replace(/^\/t\/[^/]+$/, '$&/-') ?? ''
    if (!/^\/(v1|_sim|t)(\/|$)/.test(pathname)) return []
    const path = patterns.find(({ pattern }) => pattern.test(pathname))?.path ?? ''
    const method = request.method === 'HEAD' ? 'get' : request.method.toLowerCase()
    const operation = paths[path]?.[method]
    if (operation === undefined) return errorIssues(answer)
    const at = `/paths/${path.replaceAll('/', '~1')}/${method}`
    const documented = operation.responses[status]
    if (isInjected(body)) return []
    if (documented === undefined) return ['has a status that is not documented']
    return [...responseIssues(at, documented, answer), ...requestIssues(at, operation, answer)]
  }
}

const unrouted: readonly string[] = unroutedCodes

/** Errors on purpose have the status that was asked for. */
function isInjected(body: PublishedAnswer['body']): boolean {
  return typeof body === 'string' && body.includes('"code":"fault_injected"')
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`)
}

function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}
