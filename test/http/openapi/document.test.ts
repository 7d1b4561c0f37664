import {
  BaseResolver,
  createConfig,
  lintDocument,
  makeDocumentFromString,
  type NormalizedProblem,
} from '@redocly/openapi-core'
import { describe, expect, test } from 'vitest'
import { openApiText } from '../../../src/http/openapi/document.ts'
import { errorCodes } from '../../../src/http/openapi/errors.ts'
import { statusOf, unroutedCodes } from '../../../src/http/refusals.ts'

interface Operation {
  operationId: string
  tags: string[]
  responses: Record<string, unknown>
  requestBody?: { content: { 'application/json': { examples?: object } } }
  'x-internal'?: boolean
}
interface Schema {
  oneOf?: unknown[]
  properties?: object
}
interface Document {
  components: Record<string, Record<string, unknown>> & { schemas: Record<string, Schema> }
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, { post: Operation & { parameters: unknown[] } }>
  tags: { name: string }[]
}

describe('the OpenAPI document', () => {
  // Update it with: npx vitest run test/http/openapi -u
  test('is published as fixtures/openapi.json', async () => {
    await expect(await openApiText()).toMatchFileSnapshot('../../../fixtures/openapi.json')
  })

  test("keeps Redocly's recommended rules, with and without the simulator", async () => {
    for (const simulator of [true, false]) {
      const problems = await lint(await openApiText({ simulator }))
      expect(problems.map(inWords)).toEqual([])
    }
  })

  test('lists every error code that an operation can return', () => {
    const unrouted: readonly string[] = unroutedCodes
    const ofOperations = Object.keys(statusOf).filter((code) => !unrouted.includes(code))
    const expected = [...ofOperations, 'fault_injected', 'internal_error']
    expect(errorCodes().toSorted()).toEqual(expected.toSorted())
  })

  test('distinguishes events by their type, and faults by their field on', async () => {
    const { components } = JSON.parse(await openApiText()) as Document
    const { Event, StoredCheckClosedEvent, Faults } = components.schemas
    expect(Event).toMatchObject({
      discriminator: {
        propertyName: 'type',
        mapping: { 'check.closed': '#/components/schemas/StoredCheckClosedEvent' },
      },
    })
    expect(Event?.oneOf).toHaveLength(9)
    expect(StoredCheckClosedEvent?.properties).toMatchObject({ data: { $ref: '#/components/schemas/Check' } })
    expect(JSON.stringify(Faults)).toContain('"discriminator":{"propertyName":"on"')
    // Generators for OpenAPI 3.0 do not know `const`.
    expect(components.schemas.ApiFault?.properties).toMatchObject({ on: { enum: ['api'] } })
    expect(StoredCheckClosedEvent?.properties).toMatchObject({ type: { enum: ['check.closed'] } })
  })

  test('has one schema for each enumeration with several uses', async () => {
    const { components, paths } = JSON.parse(await openApiText()) as Document
    const uses = new Map<string, number>()
    JSON.stringify([components.schemas, paths], (_key, value: { enum?: unknown[] } | null) => {
      if ((value?.enum ?? []).length > 1)
        uses.set(JSON.stringify(value), (uses.get(JSON.stringify(value)) ?? 0) + 1)
      return value
    })
    expect([...uses].filter(([, count]) => count > 1)).toEqual([])
    const status = { $ref: '#/components/schemas/CheckStatus' }
    expect(components.schemas.CheckPush?.properties).toMatchObject({ status })
    expect(components.schemas.Check?.properties).toMatchObject({ status })
    expect(components.parameters?.['status.check']).toMatchObject({ schema: status })
  })

  test('has booleans for queries that accept true and false', async () => {
    const { parameters } = (JSON.parse(await openApiText()) as Document).components
    expect(parameters?.failed).toMatchObject({ schema: { type: 'boolean' } })
    expect(parameters?.all_closed).toMatchObject({ schema: { type: 'boolean', default: false } })
  })

  test('has patterns that need no escape between slashes, and 64 bits only where 32 are too few', async () => {
    const text = await openApiText()
    expect(
      [...text.matchAll(/"pattern":"([^"]*)"/g)].filter(([, pattern]) => pattern?.includes('\\/')),
    ).toEqual([])
    const { Feedback, Check } = (JSON.parse(text) as Document).components.schemas
    expect(Feedback?.properties).toMatchObject({ rating: { type: 'integer', minimum: 1, maximum: 5 } })
    expect(Feedback?.properties).not.toMatchObject({ rating: { format: 'int64' } })
    expect(Check?.properties).toMatchObject({ paid_cents: { type: 'integer', format: 'int64' } })
  })

  test('has an example for every body, and no unused component', async () => {
    const text = await openApiText()
    const { paths, components } = JSON.parse(text) as Document
    const bodies = Object.values(paths).flatMap((item) =>
      operationsOf(item).flatMap(({ operationId, requestBody }) =>
        requestBody === undefined
          ? []
          : [[operationId, requestBody.content['application/json'].examples] as const],
      ),
    )
    expect(bodies.length).toBeGreaterThan(15)
    expect(bodies.filter(([, examples]) => Object.keys(examples ?? {}).length === 0)).toEqual([])
    const { securitySchemes: _used, ...kinds } = components
    const pointers = Object.entries(kinds).flatMap(([kind, all]) =>
      Object.keys(all).map((name) => `#/components/${kind}/${name}`),
    )
    expect(pointers.filter((pointer) => !text.includes(`{"$ref":"${pointer}"`))).toEqual([])
  })

  test('says of every webhook but the ping that it is retried', async () => {
    const { webhooks } = JSON.parse(await openApiText()) as Document
    const retried = Object.entries(webhooks).filter(([, { post }]) =>
      JSON.stringify(post).includes('is retried'),
    )
    expect(retried.map(([type]) => type)).toEqual(Object.keys(webhooks).filter((type) => type !== 'ping'))
  })

  test('is one line, and marks the operations that only the inspector calls', async () => {
    const text = await openApiText()
    expect(text.trimEnd()).not.toContain('\n')
    const { paths } = JSON.parse(text) as Document
    const operations = Object.values(paths).flatMap(operationsOf)
    const internal = operations.filter((operation) => operation['x-internal'] === true)
    expect(internal.map(({ tags: [tag] }) => tag)).toEqual(internal.map(() => 'Simulator inspector'))
    const left = operations.filter(({ tags: [tag] }) => tag === 'Simulator inspector')
    expect(left.filter((one) => !internal.includes(one)).map(({ operationId }) => operationId)).toEqual([
      'createInspectorLink',
    ])
  })

  test('names each operation once, in camelCase, and under a tag that it describes', async () => {
    const { paths, webhooks, tags } = JSON.parse(await openApiText()) as Document
    const operations = [paths, webhooks].flatMap(Object.values).flatMap(operationsOf)
    const ids = operations.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter((id) => !/^[a-z]+([A-Z][a-z]+)*$/.test(id))).toEqual([])
    const used = new Set(operations.flatMap((operation) => operation.tags))
    expect([...used].toSorted()).toEqual(tags.map(({ name }) => name).toSorted())
  })

  test('without the simulator has only /v1 paths, and the signature header of the given service name', async () => {
    const text = await openApiText({ simulator: false, serviceName: 'Acme', url: 'https://api.example.org' })
    const { paths, webhooks, components } = JSON.parse(text) as Document
    expect(Object.keys(paths).filter((path) => !path.startsWith('/v1/'))).toEqual([])
    expect(text).not.toMatch(
      /_sim\/|`simulate`|\/t\/|X-Guest-Id|x-simulator-only|Simulator clock|ClockReport|fault_injected|traceparent/,
    )
    expect(webhooks['check.closed']?.post.parameters).toEqual([
      { $ref: '#/components/parameters/webhook-signature' },
    ])
    expect(components.parameters?.['webhook-signature']).toMatchObject({
      name: 'X-Acme-Signature',
      in: 'header',
    })
  })
})

function operationsOf(item: object): Operation[] {
  return Object.values(item as Record<string, Operation>).filter(
    ({ operationId }) => operationId !== undefined,
  )
}

async function lint(text: string): Promise<NormalizedProblem[]> {
  const document = makeDocumentFromString(text, '/openapi.json')
  const config = await createConfig({ extends: ['recommended'] })
  return lintDocument({ document, externalRefResolver: new BaseResolver(), config })
}

function inWords({ ruleId, message, location: [at] }: NormalizedProblem): string {
  return `${ruleId}: ${message} (${at?.pointer})`
}
