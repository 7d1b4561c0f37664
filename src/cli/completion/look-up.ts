import type { Client } from '../../client.ts'
import { readConfigFile } from '../config/file.ts'
import { readSamples } from '../push/samples.ts'
import { savedStates } from '../files/state-files.ts'
import { shippedNames } from '../scenario/shipped.ts'
import type { Suggestion } from './parse.ts'
import type { LookedUp } from './suggest.ts'

/** Sources of names. The service is asked only when needed. */
interface Places {
  connect(): Promise<Client>
  dataDirectory: string
}

type Finder = (places: Places) => Promise<Suggestion[]>

const newest = { limit: 100 }

/** Lists the newest hundred of each kind. */
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
  profile: async () =>
    Object.keys((await readConfigFile(undefined))?.content.profiles ?? {}).map((value) => ({
      value,
      description: '',
    })),
  request: async ({ connect }) =>
    (await (await connect()).requests.list(newest)).data.map(({ id, method, path, status }) => ({
      value: id,
      description: `${method} ${path}, ${status}`,
    })),
  sample: async () =>
    (await readSamples()).map(({ name, purpose }) => ({ value: name, description: purpose })),
  scenario: async () => (await shippedNames()).map((value) => ({ value, description: '' })),
  state: async ({ dataDirectory }) =>
    (await savedStates(dataDirectory)).map(({ name, saved_at }) => ({
      value: name,
      description: `saved ${saved_at}`,
    })),
}

/**
 * Returns the existing names of a kind. Leaves out names that a shell would not take as one plain word: an external
 * id can hold any text, and is inserted into the line as it is. Returns nothing after `timeoutMs` milliseconds.
 */
export async function lookUp(kind: LookedUp, places: Places, timeoutMs: number): Promise<Suggestion[]> {
  const late = new Promise<Suggestion[]>((resolve) => setTimeout(resolve, timeoutMs, []).unref())
  const found = finders[kind](places).catch(() => [])
  const all = await Promise.race([found, late])
  return all.filter(({ value }) => /^[\p{L}\p{N}_][\p{L}\p{N}_.@%+,/-]*$/u.test(value))
}
