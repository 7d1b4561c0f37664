import type { Client } from '../../client.ts'
import { savedStates } from '../files/state-files.ts'
import { shippedNames } from '../scenario/shipped.ts'
import type { Suggestion } from './parse.ts'
import type { LookedUp } from './suggest.ts'

/** Where to look: the service is asked for only when it is needed. */
interface Places {
  connect(): Promise<Client>
  dataDirectory: string
}

type Finder = (places: Places) => Promise<Suggestion[]>

const newest = { limit: 100 }

/** The newest hundred of each, as they are known where the command would look for them. */
const finders: Record<LookedUp, Finder> = {
  check: async ({ connect }) =>
    (await (await connect()).checks.list(newest)).data.map(({ external_id, table, status }) => ({
      value: external_id,
      description: `table ${table.number}, ${status}`,
    })),
  claim: async ({ connect }) =>
    (await (await connect()).claims.list(newest)).data
      .filter(({ status }) => status === 'active')
      .map(({ id, guest_name, external_check_id }) => ({
        value: id,
        description: `${guest_name ?? 'a guest'}, ${external_check_id}`,
      })),
  delivery: async ({ connect }) =>
    (await (await connect()).deliveries.list(newest)).data.map(({ id, event_type, status }) => ({
      value: id,
      description: `${event_type}, ${status}`,
    })),
  endpoint: async ({ connect }) =>
    (await (await connect()).endpoints.list(newest)).data.map(({ id, url, status }) => ({
      value: id,
      description: `${url}, ${status}`,
    })),
  event: async ({ connect }) =>
    (await (await connect()).events.list(newest)).data.map(({ id, type, external_check_id }) => ({
      value: id,
      description: `${type}, ${external_check_id ?? 'no check'}`,
    })),
  key: async ({ connect }) =>
    (await (await connect()).keys.list(newest)).data.map(({ id, scopes }) => ({
      value: id,
      description: scopes.join(', '),
    })),
  payment: async ({ connect }) =>
    (await (await connect()).payments.list(newest)).data.map(({ id, guest_name, external_check_id }) => ({
      value: id,
      description: `${guest_name ?? 'a guest'}, ${external_check_id}`,
    })),
  scenario: async () => (await shippedNames()).map((value) => ({ value, description: '' })),
  state: async ({ dataDirectory }) =>
    (await savedStates(dataDirectory)).map(({ name, saved_at }) => ({
      value: name,
      description: `saved ${saved_at}`,
    })),
}

/**
 * What there is of this kind. Only what a shell takes as one plain word: an external id is anybody's text, and is typed into
 * the line as it stands. Nothing, when it cannot be found out within `patience` milliseconds.
 */
export async function lookUp(kind: LookedUp, places: Places, patience: number): Promise<Suggestion[]> {
  const late = new Promise<Suggestion[]>((resolve) => setTimeout(resolve, patience, []).unref())
  const found = finders[kind](places).catch(() => [])
  const all = await Promise.race([found, late])
  return all.filter(({ value }) => /^[\p{L}\p{N}_][\p{L}\p{N}_.@%+,/-]*$/u.test(value))
}
