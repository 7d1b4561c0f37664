import fc from 'fast-check'
import { fromSchema } from './from-schema.ts'
import { operations, schemas, type Documented } from './operations.ts'
import type { Asked, Service } from './service.ts'
import { withParameter } from './valid-requests.ts'

/** Operations that would disturb all other requests. */
const changesAll: readonly string[] = ['loadState', 'resetState', 'moveClock']

const rarely = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: odd })

const oddText = fc.oneof(
  fc.constantFrom('', '0', '-1', '1e2', '%', '%00', '..', '{}'),
  fc.string({ maxLength: 30 }),
)

/** Operations that generated requests go to. */
export const tame = operations.filter(({ id }) => !changesAll.includes(id))

/** One request to each operation, in any order: by the schemas of the document, or a known good one, at times with something odd. */
export function anyRequests(
  { apiKey }: Service,
  good: ReadonlyMap<string, Asked>,
): fc.Arbitrary<[Documented, Asked][]> {
  const requestTo = (operation: Documented) => {
    const known = good.get(operation.id) ?? { path: operation.path, key: apiKey }
    const key = rarely(fc.constant(known.key), fc.constantFrom(null, 'x'))
    const path = rarely(
      fc.constant(known.path),
      // Without a name, or with dots for one, it would be another path.
      oddText
        .filter((text) => !/^\.{0,2}$/.test(text))
        .map((text) => withParameter(operation.path, encodeURIComponent(text))),
    )
    const asked = fc.record({ path, query: queryOf(operation), key, body: bodyOf(operation, known.body) })
    return asked.map(({ path, query, key, body }): [Documented, Asked] => [
      operation,
      { path: path + query, key, headers: known.headers ?? {}, ...(body !== undefined && { body }) },
    ])
  }
  return fc.shuffledSubarray(tame, { minLength: tame.length }).chain((all) => fc.tuple(...all.map(requestTo)))
}

function queryOf({ queries }: Documented): fc.Arbitrary<string> {
  const pairs = queries.map(({ name, schema }) =>
    rarely(fromSchema(schema, schemas).map(String), oddText).map(
      (text) => `${name}=${encodeURIComponent(text)}`,
    ),
  )
  if (pairs.length === 0) return fc.constant('')
  return fc
    .subarray(pairs)
    .chain((some) => fc.tuple(...some))
    .map((some) => (some.length === 0 ? '' : `?${some.join('&')}`))
}

function bodyOf({ body }: Documented, known: string | undefined): fc.Arbitrary<string | undefined> {
  if (body === undefined) return fc.constant(undefined)
  const generated = fromSchema(body, schemas).map((value) => JSON.stringify(value))
  const spoiled = fc.tuple(generated, fc.nat(12), fc.jsonValue()).map(([text, place, other]) => {
    let count = 0
    return JSON.stringify(JSON.parse(text), (_key, kept: unknown) => (count++ === place ? other : kept))
  })
  return fc.oneof(fc.constant(known), generated, spoiled, fc.string({ maxLength: 30 }))
}
