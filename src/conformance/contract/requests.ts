import type { Answer } from './ask.ts'
import { must, NotChecked, type ContractCase } from './case.ts'
import { conflicted } from './conflicts.ts'
import { item, push } from './pushes.ts'
import type { Site } from './site.ts'

const identified = (id: string, title: string, ask: (site: Site) => Promise<Answer>): ContractCase => ({
  group: 'requests',
  id,
  title,
  section: 'section 7: every response, error or not, carries X-Request-Id',
  async check(site) {
    const { status, headers } = await ask(site)
    must(idOf({ headers }) !== '', `The answer, ${status}, has no X-Request-Id.`)
  },
})

/** Specification, sections 1 and 7: what every response carries. */
export const requests: readonly ContractCase[] = [
  identified('id_on_success', 'a success has a request id', ({ ask }) => ask('GET', '/locations')),
  identified('id_on_push', 'a push has a request id', ({ ask, freshCheck }) =>
    ask('PUT', freshCheck(), { json: push([item('a')]) }),
  ),
  identified('id_on_unknown_path', 'an unknown path has a request id', ({ ask }) =>
    ask('GET', '/no-such-thing'),
  ),
  identified('id_on_missing_key', 'a request without a key has a request id', ({ ask }) =>
    ask('GET', '/locations', { authorization: null }),
  ),
  identified('id_on_broken_json', 'a push that is no JSON has a request id', ({ ask, freshCheck }) =>
    ask('PUT', freshCheck(), { body: '{' }),
  ),
  {
    ...identified(
      'id_on_conflict',
      'a conflict has a request id',
      async (site) => (await conflicted(site)).answer,
    ),
    needs: ['guests'],
  },
  {
    group: 'requests',
    id: 'ids_differ',
    title: 'two requests have two ids',
    section: 'section 1: X-Request-Id identifies the request',
    async check({ ask }) {
      const [one, other] = [idOf(await ask('GET', '/locations')), idOf(await ask('GET', '/locations'))]
      if (one === '') throw new NotChecked('There is no X-Request-Id.')
      must(one !== other, `Two requests have the same id, ${one}.`)
    },
  },
]

function idOf({ headers }: Pick<Answer, 'headers'>): string {
  return String(headers['x-request-id'] ?? '')
}
