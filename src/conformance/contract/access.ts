import { isSuccess, type Answer, type Sent } from './ask.ts'
import type { ContractCase } from './case.ts'
import { must, NotChecked } from './outcome.ts'
import { registered } from './endpoints.ts'
import { hasList } from './shape.ts'
import type { Target } from './target.ts'

/** Asks for the locations with the key of the check. @throws Broken when that is refused. */
function allowed({ once, ask }: Target): Promise<Answer> {
  return once('locations', async () => {
    const answer = await ask('GET', '/locations')
    must(isSuccess(answer), `GET /locations was answered ${answer.status}.`)
    return answer
  })
}

/** @throws Broken when the answer holds no list, NotChecked when it is not JSON. */
async function locations(target: Target): Promise<void> {
  const { json, text } = await allowed(target)
  if (json === undefined && text.trim() !== '')
    throw new NotChecked('The answer to GET /locations is not JSON, and its form is not shown.')
  must(hasList(json), 'The answer to GET /locations holds no list.')
}

const refused = (id: string, title: string, authorization: string | null): ContractCase => ({
  group: 'access',
  id,
  title,
  basis: 'specification',
  section: 'sections 4 and 5: all endpoints require Authorization: Bearer and the key',
  control: allowed,
  async check({ ask }) {
    const answer = await ask('GET', '/locations', { authorization })
    must(!isSuccess(answer), `GET /locations was answered ${answer.status}; expected a refusal.`)
  },
})

/** Specification, section 5: keys and scopes; and section 4, `GET /locations`. */
export const access: readonly ContractCase[] = [
  {
    group: 'access',
    id: 'locations',
    title: 'GET /locations returns a list',
    basis: 'specification',
    section: 'section 4: GET /locations lists the locations',
    async control({ ask }) {
      const [list, nothing] = [await ask('GET', '/locations'), await ask('GET', '/no-such-thing')]
      if (isSuccess(nothing) && nothing.text === list.text)
        throw new NotChecked(
          'The service answers an unknown path in the same way, so the answer means nothing.',
        )
    },
    check: locations,
  },
  refused('no_key', 'a call without a key is refused', null),
  refused('unknown_key', 'a call with an unknown key is refused', 'Bearer no-such-key'),
  refused('no_bearer', 'a call with another scheme is refused', 'Basic bm8ta2V5Og=='),
  {
    group: 'access',
    id: 'push_without_key',
    title: 'a push without a key is refused',
    basis: 'specification',
    section: 'section 4: all endpoints require the Authorization header',
    control: (target) => target.push(target.freshCheck(), target.body([])).catch(() => allowed(target)),
    async check({ ask, freshCheck, body }) {
      const check = freshCheck()
      const answer = await ask('PUT', check.path, { json: body([check.item('a')]), authorization: null })
      must(!isSuccess(answer), `The push was answered ${answer.status}; expected a refusal.`)
    },
  },
  {
    group: 'access',
    id: 'write_scope',
    title: 'a key without write scope cannot register an endpoint',
    basis: 'specification',
    section: 'section 4: POST /webhook-endpoints requires write scope',
    control: registered,
    async check({ ask, limitedKey, receiver }) {
      if (limitedKey === undefined)
        throw new NotChecked('It takes a key without write scope. Pass one with --read-key.')
      const sent: Sent = { authorization: `Bearer ${limitedKey}` }
      const read = await ask('GET', '/locations', sent)
      if (!isSuccess(read))
        throw new NotChecked(`The key of --read-key is refused by GET /locations, too (${read.status}).`)
      const json = { url: receiver.open().url, event_types: ['check.created'] }
      const answer = await ask('POST', '/webhook-endpoints', { ...sent, json })
      must(!isSuccess(answer), `The registration was answered ${answer.status}; expected a refusal.`)
    },
  },
]
