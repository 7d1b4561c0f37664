import { must, type ContractCase } from './case.ts'
import type { Sent } from './ask.ts'
import { isSuccess } from './site.ts'

const refused = (id: string, title: string, authorization: string | null): ContractCase => ({
  group: 'access',
  id,
  title,
  section: 'section 5: every API call carries Authorization: Bearer and the key',
  async check({ ask }) {
    const { status } = await ask('GET', '/locations', { authorization })
    must(status >= 400 && status < 500, `It was answered ${status}.`)
  },
})

/** Specification, section 5: keys and scopes; and section 4, `GET /locations`. */
export const access: readonly ContractCase[] = [
  refused('no_key', 'a call without a key is refused', null),
  refused('unknown_key', 'a call with an unknown key is refused', 'Bearer no-such-key'),
  refused('no_bearer', 'a call with another scheme is refused', 'Basic bm8ta2V5Og=='),
  {
    group: 'access',
    id: 'write_scope',
    title: 'a key without write scope registers no endpoint',
    section: 'section 4: POST /webhook-endpoints requires write scope',
    needs: ['limited key'],
    async check({ ask, limitedKey, hooks }) {
      const json = { url: hooks.open().url, event_types: ['check.created'] }
      const sent: Sent = { json, authorization: `Bearer ${limitedKey}` }
      const { status } = await ask('POST', '/webhook-endpoints', sent)
      must(status >= 400 && status < 500, `It was answered ${status}.`)
    },
  },
  {
    group: 'access',
    id: 'locations',
    title: 'GET /locations answers a list in JSON',
    section: 'section 4: GET /locations lists the locations',
    async check({ ask }) {
      const answer = await ask('GET', '/locations')
      must(isSuccess(answer), `It was answered ${answer.status}.`)
      const { json } = answer
      const inside: unknown[] =
        typeof json === 'object' && json !== null ? [json, ...(Object.values(json) as unknown[])] : []
      must(inside.some(Array.isArray), 'The answer holds no list in JSON.')
    },
  },
]
