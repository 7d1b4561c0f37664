import { readFileSync } from 'node:fs'
import { readCredentials, readReplaceable, writeCredentials, type Credentials } from '../data-directory.ts'
import { hashOf } from '../http/auth/api-key.ts'
import { scopes } from '../model/api-key.ts'
import { count } from '../model/text/count.ts'
import { addLocations, assignEndpoints } from '../operations/state.ts'
import { createKey } from '../operations/keys.ts'
import type { Service } from '../service.ts'
import { fileIn } from '../store/disk.ts'
import { unusable } from '../store/errors.ts'
import type { PostgresStore } from '../store/postgres/postgres-store.ts'
import type { SharedValues } from '../store/shared-values.ts'
import { packageFile } from '../package-file.ts'

interface Wanted {
  dataDirectory?: string | undefined
  values: SharedValues
  shared: PostgresStore | undefined
  apiKey?: string | undefined
  /** Location of the key; by default the first. */
  locationId?: string | undefined
  newApiKey: () => string
  newTableSecret: () => string
  onNotice: (notice: string) => void
}

/** Data of the service that is not in its store. */
interface SeededStore {
  apiKey: string
  tableSecret: string
}

/**
 * Adds locations to an empty store, and ensures a known key with all scopes (contract section 2). Uses the requested
 * key, otherwise the one in `credentials.json`, otherwise a new one. Returns the key and the secret of table addresses.
 * The secret is stored beside the key, so that printed QR codes stay valid.
 */
export async function seedStore(
  service: Service,
  { dataDirectory, values, shared, apiKey, locationId, newApiKey, newTableSecret, onNotice }: Wanted,
): Promise<SeededStore> {
  const credentials = shared === undefined ? inDirectory(dataDirectory) : inValues(values)
  const location_id = locationId ?? (await firstLocation(service))
  await assignOldEndpoints(service, { location_id, onNotice })
  const kept = await credentials.read({ api_key: newApiKey(), table_secret: newTableSecret() })
  const wanted = {
    api_key: apiKey ?? (await unlessRevoked(service, kept?.api_key)) ?? newApiKey(),
    table_secret: kept?.table_secret ?? newTableSecret(),
  }
  const isKept = kept?.api_key === wanted.api_key && kept.table_secret === wanted.table_secret
  // `--api-key` of one instance does not replace the key of the sandbox.
  const isOwn = shared !== undefined && apiKey !== undefined
  const { api_key: key, table_secret: tableSecret } =
    isKept || isOwn ? wanted : await credentials.write(wanted, kept)
  // Creates nothing when the key is in use.
  await service.execute(createKey, { name: 'start', scopes: [...scopes], hash: hashOf(key), location_id })
  return { apiKey: key, tableSecret }
}

/** Gives a location to the endpoints of early versions, which had none, and says so. */
async function assignOldEndpoints(
  service: Service,
  { location_id, onNotice }: { location_id: string } & Pick<Wanted, 'onNotice'>,
): Promise<void> {
  const assigned = await service.execute(assignEndpoints, { location_id })
  if (assigned === 0) return
  const location = await service.get('locations', location_id)
  const place = location === undefined ? location_id : `${location.name} (${location_id})`
  onNotice(
    `An early version stored ${count(assigned, 'endpoint')} without a location. ${assigned === 1 ? 'It belongs' : 'They belong'} to ${place} now. For another location, delete the endpoint and register it again with a key of that location.`,
  )
}

/** Where the first key and the secret of table addresses are stored. */
interface KeptCredentials {
  /** Returns what is stored; may store those that it is given. */
  read(made: Required<Credentials>): Promise<Credentials | undefined>
  /** Stores credentials in the place of those that were read. Returns what is stored then. */
  write(wanted: Required<Credentials>, before?: Credentials): Promise<Required<Credentials>>
}

function inDirectory(directory: string | undefined): KeptCredentials {
  return {
    async read() {
      if (directory === undefined) return undefined
      return readCredentials(directory, readReplaceable).catch((error: unknown) => {
        throw unusable(fileIn(directory, 'credentials.json').shown, error)
      })
    },
    async write(wanted) {
      if (directory !== undefined) await writeCredentials(directory, wanted)
      return wanted
    },
  }
}

/** Instances that start together get the same credentials: those of the first one that writes them. */
function inValues(values: SharedValues): KeptCredentials {
  const write: KeptCredentials['write'] = (wanted, before) =>
    values.update('credentials', (value) => {
      const stored = value as object as Required<Credentials> | undefined
      const reply = stored === undefined || stored.api_key === before?.api_key ? wanted : stored
      return { value: { ...reply }, reply }
    })
  return { read: (made) => write(made), write }
}

/** Returns the id of the first location; creates the locations when there are none. */
async function firstLocation(service: Service): Promise<string> {
  const { data } = await service.list('locations', { order: 'asc', limit: 1 })
  const locations = data.length > 0 ? data : await service.execute(addLocations, { locations: fixture() })
  const [first] = locations.map(({ id }) => id).sort()
  if (first === undefined) throw new Error('locations.json of the package contains no locations.')
  return first
}

/** Returns a stored key unless it was revoked; a key that the store does not know is registered again. */
async function unlessRevoked(service: Service, key: string | undefined): Promise<string | undefined> {
  if (key === undefined) return undefined
  const known = await service.find('keys', 'hash', hashOf(key))
  return known.length === 0 || known.some(({ revoked_at }) => revoked_at === null) ? key : undefined
}

/** Reads synchronously: for a few lines that is faster than asking another thread. */
function fixture() {
  const path = packageFile('fixtures/locations.json')
  return JSON.parse(readFileSync(path, 'utf8')) as { name: string; timezone: string; currency: string }[]
}
