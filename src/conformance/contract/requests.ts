import { requestIdOf, type ServiceResponse } from './ask.ts'
import type { ContractCase, CaseRule } from './case.ts'
import { must, NotChecked } from './outcome.ts'
import { accepted } from './pushes.ts'
import { conflicted, requireConflict } from './conflicts.ts'
import type { Target } from './target.ts'

const identified = (
  id: string,
  title: string,
  ask: (target: Target) => Promise<ServiceResponse>,
): CaseRule => ({
  group: 'requests',
  id,
  title,
  basis: 'specification',
  section: 'sections 1 and 7: every response, error or not, carries X-Request-Id',
  control: accepted,
  async check(target) {
    const { status, headers } = await ask(target)
    must(requestIdOf({ headers }) !== '', `The response ${status} has no X-Request-Id.`)
  },
})

/** @throws NotChecked when the response is no error, since then it says nothing about errors. */
const requireError = async (asked: Promise<ServiceResponse>): Promise<ServiceResponse> => {
  const answer = await asked
  if (answer.status < 400) throw new NotChecked(`The request returned ${answer.status}; expected an error.`)
  return answer
}

/** Specification, sections 1 and 7: what every response carries. */
export const requests: readonly ContractCase[] = [
  identified('id_on_success', 'a successful response has a request id', ({ ask }) =>
    ask('GET', '/locations'),
  ),
  identified('id_on_push', 'the response to a push has a request id', ({ ask, freshCheck, body }) => {
    const check = freshCheck()
    return ask('PUT', check.path, { json: body(check, [check.item('a')]) })
  }),
  identified('id_on_unknown_path', 'the response to an unknown path has a request id', ({ ask }) =>
    requireError(ask('GET', '/no-such-thing')),
  ),
  identified('id_on_missing_key', 'the response to a request without a key has a request id', ({ ask }) =>
    requireError(ask('GET', '/locations', { authorization: null })),
  ),
  identified('id_on_broken_json', 'the response to an invalid push has a request id', ({ ask, freshCheck }) =>
    requireError(ask('PUT', freshCheck().path, { body: '{' })),
  ),
  identified('id_on_conflict', 'the response to a conflict has a request id', async (target) => {
    const { answer } = await conflicted(target)
    requireConflict(answer)
    return answer
  }),
]

/** Rules about the whole run, so these come last. */
export const idsDiffer: ContractCase = {
  group: 'requests',
  id: 'ids_differ',
  title: 'all responses of this run have different request ids',
  basis: 'specification',
  section: 'section 1: X-Request-Id identifies the request',
  control: accepted,
  async check({ ask, repeatedIds }) {
    const [one, other] = [
      requestIdOf(await ask('GET', '/locations')),
      requestIdOf(await ask('GET', '/locations')),
    ]
    if (one === '') throw new NotChecked('The response has no X-Request-Id.')
    must(one !== other, `Two requests have the same id, ${one}.`)
    const first = requestIdOf(await ask('GET', '/locations', { reuses: true }))
    // A service may close a connection that it kept.
    const second = await ask('GET', '/locations', { reuses: true }).catch(() => undefined)
    must(
      second === undefined || requestIdOf(second) !== first,
      `Two requests of one connection have the same id, ${first}.`,
    )
    const [again] = repeatedIds
    must(again === undefined, `The request id of another response was repeated by ${again}.`)
  },
}

export const everyAnswer: ContractCase = {
  group: 'requests',
  id: 'id_on_every_answer',
  title: 'all other responses of this run have a request id',
  basis: 'specification',
  section: 'sections 1 and 7: every response, error or not, carries X-Request-Id',
  control: accepted,
  async check({ ask, tryToRegister, unidentified, freshCheck, readPath }) {
    // Kinds of answers that no other case asks for.
    await ask('GET', readPath(freshCheck()))
    await ask('GET', '/webhook-endpoints/no-such-endpoint')
    await ask('POST', '/locations', { json: {} })
    await ask('POST', '/webhook-endpoints/no-such-endpoint/test', { json: {} })
    await tryToRegister({ body: '{' })
    const [first] = unidentified
    must(first === undefined, `${first} has no X-Request-Id (responses without it: ${unidentified.length}).`)
  },
}
