import { inspectorRoutes } from '../sim/inspector.ts'
import { pageRoutes, type Pages } from '../pages.ts'
import { sessionRoutes, type SessionRouteParts } from '../sim/sessions.ts'
import { simRoutes, type SimParts } from '../sim/routes.ts'
import type { Documented, Route } from '../route.ts'
import { tableRoutes, type TableRouteParts } from '../guest-table/routes.ts'
import { v1Routes, type V1Parts } from '../v1/routes.ts'
import { componentSchemas, describe } from './schemas.ts'
import { errorResponses } from './errors.ts'
import { readExamples } from './examples.ts'
import { headers } from './headers.ts'
import { info, tagList } from './info.ts'
import type { Json } from './json.ts'
import { parameterComponents } from './parameters.ts'
import { pathsOf } from './paths.ts'
import { signatureParameter, webhooksOf } from './webhooks.ts'

export interface DocumentOptions {
  /** URL of the service without `/v1`; by default the one of `tabwire start`. */
  url?: string | undefined
  /** Names the signature header, `X-<name>-Signature`. */
  serviceName?: string | undefined
  /** Includes the simulator's operations under `/_sim` and `/t`. Default: `true`. */
  simulator?: boolean | undefined
}

/** Rows of the route tables. Their handlers are not called, so the tables get no dependencies. */
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
 * Returns the OpenAPI 3.1 document, created from the route tables and the validating schemas. It is deterministic, byte
 * for byte.
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
      ...pathsOf('/v1', simulator ? rows.v1 : rows.v1.map(withoutHeaders), examples),
      ...(simulator
        ? {
            ...pathsOf('/_sim', rows.sim, examples),
            ...pathsOf('/t', rows.table, examples),
          }
        : {}),
    },
    webhooks: webhooksOf({ trace: simulator }),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API key. Its scopes are any of `read` (every GET), `write` (pushes, webhook endpoints and pings) and `simulate` (all of `/_sim`).',
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

/** Returns the document on one line, because indentation would be a third of its size. */
export async function openApiText(options: DocumentOptions = {}): Promise<string> {
  return `${JSON.stringify(await openApiDocument(options))}\n`
}

/** Leaves out the headers of `--trace`, which only Tabwire reads. */
function withoutHeaders({ doc: { headers: _headers, ...doc }, ...row }: Documented): Documented {
  return { ...row, doc }
}

function isDocumented(route: Route): route is Documented {
  return route.doc !== undefined
}

/** Returns the document without unreferenced components. */
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
