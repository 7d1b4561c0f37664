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
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, { post: Operation & { parameters: { name: string }[] } }>
  tags: { name: string }[]
}

describe('the OpenAPI document', () => {
  // Made anew by: npx vitest run test/http/openapi -u
  test('is published as fixtures/openapi.json', async () => {
    await expect(await openApiText()).toMatchFileSnapshot('../../../fixtures/openapi.json')
  })

  test("keeps Redocly's recommended rules, with and without the simulator", async () => {
    for (const simulator of [true, false]) {
      const problems = await lint(await openApiText({ simulator }))
      // It says what a path answers to a method that it does not have, for which OpenAPI has no place.
      const known = '#/components/responses/MethodNotAllowed'
      expect(problems.filter(({ location: [at] }) => at?.pointer !== known).map(inWords)).toEqual([])
    }
  })

  test('has every code of a refusal by an operation', () => {
    const unrouted: readonly string[] = unroutedCodes
    const ofOperations = Object.keys(statusOf).filter((code) => !unrouted.includes(code))
    const expected = [...ofOperations, 'fault_injected', 'internal_error']
    expect(errorCodes().toSorted()).toEqual(expected.toSorted())
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

  test('without the simulator has nothing of it, and names the signature header as it is asked to', async () => {
    const text = await openApiText({ simulator: false, serviceName: 'Acme', url: 'https://api.example.org' })
    const { paths, webhooks } = JSON.parse(text) as Document
    expect(Object.keys(paths).filter((path) => !path.startsWith('/v1/'))).toEqual([])
    expect(text).not.toMatch(
      /_sim\/|\/t\/|X-Guest-Id|x-simulator-only|Simulator clock|ClockReport|fault_injected/,
    )
    expect(webhooks['check.closed']?.post.parameters.map(({ name }) => name)).toEqual(['X-Acme-Signature'])
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
