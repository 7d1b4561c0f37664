import type { Scope } from '../../../src/model/api-key.ts'
import type { Documented } from './operations.ts'
import type { Asked, Service } from './service.ts'
import { conflictOf, withParameter } from './valid-requests.ts'

const scopes: readonly Scope[] = ['read', 'write', 'simulate']

/** A key that has every scope but the one that is needed; made once for each. */
export async function keyWithout(scope: string, { key, keysWithout }: Service): Promise<string> {
  const known = keysWithout.get(scope) ?? (await key(scopes.filter((other) => other !== scope)))
  keysWithout.set(scope, known)
  return known
}

type Spoil = (
  operation: Documented,
  asked: Asked,
  service: Service,
) => Asked | undefined | Promise<Asked | undefined>

/** A good request with one thing wrong, by the status with which it is refused; `undefined` where nothing can be so wrong. */
export const refused: Readonly<Record<number, Spoil>> = {
  400({ path, body, queries }, asked) {
    if (path.includes('{')) return { ...asked, path: withParameter(path, '%ZZ') }
    if (body !== undefined) return { ...asked, body: '{' }
    if (queries.some(({ name }) => name === 'limit')) return { ...asked, path: `${path}?limit=0` }
    return { ...asked, headers: { ...asked.headers, host: '' } }
  },
  401({ scope, body }, asked) {
    if (scope !== undefined) return { ...asked, key: null }
    return body === undefined ? undefined : { ...asked, body: '{"code":"used"}' }
  },
  402: (_operation, asked) => ({
    ...asked,
    // The guest page names the check in the body.
    body: JSON.stringify({
      ...(asked.path.startsWith('/t/') && { external_check_id: 'a' }),
      card: 'declined',
    }),
  }),
  async 403({ scope }, asked, service) {
    if (scope !== undefined) return { ...asked, key: await keyWithout(scope, service) }
    return { ...asked, headers: { ...asked.headers, origin: 'https://elsewhere.example' } }
  },
  404: ({ path }, asked) =>
    path.includes('{') ? { ...asked, path: withParameter(path, 'nobody') } : undefined,
  async 409(operation, asked, service) {
    const { path, body } = await conflictOf(operation, service)
    return { ...asked, path, ...(body !== undefined && { body: JSON.stringify(body) }) }
  },
  413: (_operation, asked) => ({ ...asked, body: JSON.stringify('x'.repeat(20_000)) }),
  415: (_operation, asked) => ({ ...asked, headers: { ...asked.headers, 'content-type': 'text/plain' } }),
  422: (_operation, asked) => ({ ...asked, body: '7' }),
}
