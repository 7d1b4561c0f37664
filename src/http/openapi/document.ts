import { inspectorRoutes } from '../sim/inspector.ts'
import { pageRoutes, type Pages } from '../pages.ts'
import { sessionRoutes, type SessionRouteParts } from '../sim/sessions.ts'
import { simRoutes, type SimParts } from '../sim/routes.ts'
import type { Documented, Route } from '../route.ts'
import { tableRoutes, type TableRouteParts } from '../guest-table/routes.ts'
import { v1Routes, type V1Parts } from '../v1/routes.ts'
import { describe } from './descriptions.ts'
import { errorResponses } from './errors.ts'
import { readExamples } from './examples.ts'
import { headers } from './headers.ts'
import { info, tagList } from './info.ts'
import type { Json } from './json.ts'
import { parameterComponents } from './parameters.ts'
import { pathsOf } from './paths.ts'
import { componentSchemas } from './schemas.ts'
import { signatureParameter, webhooks } from './webhooks.ts'

export interface DocumentOptions {
  /** Where the service is, without `/v1`; by default where `tabwire start` puts it. */
  url?: string | undefined
  /** Names the signature header, `X-<name>-Signature`. */
  serviceName?: string | undefined
  /** With what is the simulator's own, under `/_sim` and `/t`, and no real service has. */
  simulator?: boolean | undefined
}

/** The rows of the route tables. Their handlers are not called, so the tables get no parts. */
const rows = {
  v1: v1Routes({} as V1Parts),
  sim: [
    ...simRoutes({} as SimParts),
    ...inspectorRoutes({} as V1Parts),
    ...sessionRoutes({} as SessionRouteParts),
  ],
  table: [
    ...pageRoutes({} as TableRouteParts, {} as Pages).filter(isDocumented),
    ...tableRoutes({} as TableRouteParts),
  ],
}

/**
 * The OpenAPI 3.1 document of the service, made of the route tables and of the schemas that validate. The same options
 * make the same document, byte for byte.
 */
export async function openApiDocument(options: DocumentOptions = {}): Promise<Json> {
  const { url = 'http://127.0.0.1:4100', serviceName = 'Service', simulator = true } = options
  const examples = await readExamples()
  return withoutUnused({
    openapi: '3.1.1',
    info: info(simulator),
    servers: [{ url, description: 'Tabwire' }],
    tags: tagList(simulator),
    paths: {
      ...pathsOf('/v1', rows.v1, examples),
      ...(simulator
        ? {
            ...pathsOf('/_sim', rows.sim, examples),
            ...pathsOf('/t', rows.table, examples),
          }
        : {}),
    },
    webhooks,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API key. Its scopes are among `read` (every GET), `write` (pushes, webhook endpoints and pings) and `simulate` (all of `/_sim`).',
        },
      },
      parameters: { ...parameterComponents, 'webhook-signature': signatureParameter(serviceName) },
      headers,
      responses: errorResponses(simulator),
      schemas: describe(componentSchemas()),
      examples,
    },
  })
}

/** The document as it is served and packed: on one line, since indentation would be a third of it. */
export async function openApiText(options: DocumentOptions = {}): Promise<string> {
  return `${JSON.stringify(await openApiDocument(options))}\n`
}

function isDocumented(route: Route): route is Documented {
  return route.doc !== undefined
}

/** The document without components that no path references. */
function withoutUnused(document: Json & { components: Record<string, Json> }): Json {
  const { components, ...rest } = document
  const used = new Set<string>()
  const follow = (pointer: string) => {
    if (used.has(pointer)) return
    used.add(pointer)
    const [kind = '', name = ''] = pointer.split('/').slice(2)
    references(components[kind]?.[name]).forEach(follow)
  }
  for (const pointer of references(rest)) follow(pointer)
  const isUsed = (kind: string, name: string) =>
    kind === 'securitySchemes' || used.has(`#/components/${kind}/${name}`)
  const left = Object.entries(components).map(([kind, all]) => [
    kind,
    Object.fromEntries(Object.entries(all).filter(([name]) => isUsed(kind, name))),
  ])
  return { ...rest, components: Object.fromEntries(left) as Json }
}

function references(value: unknown): string[] {
  return [...JSON.stringify(value ?? null).matchAll(/"\$ref":"([^"]+)"/g)].map(([, pointer = '']) => pointer)
}
