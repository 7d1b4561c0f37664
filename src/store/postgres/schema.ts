import type { Database, Query } from './database.ts'
import { DatabaseUnusable, grantsFor, mayNotMigrate } from './start-errors.ts'

/**
 * Numbered migrations. Each runs once, in order, in the schema of the sandbox. A published one never changes.
 *
 * - `sandbox` has one row: the sequence of the last transaction, and the number of replacements of all records.
 * - `changes` is the journal: one row per written record, by sequence and place. A row without `doc` removes the record.
 *   `batch` names the statement that wrote the row.
 * - `records` has all records as of the sequence in `compacted`; `changes` has what came since.
 * - `requests` is the request log: one row per answered request, by number. It is unlogged, because writing it twice would
 *   cost a tenth of all pushes: after a crash of the server, the log ends at the checkpoint. `request_checkpoint` has the
 *   log as of a number, with everything that older requests show. `request_head` has the number of the newest row, that of
 *   the checkpoint, and that of the last removed row.
 * - `slots` and `instances` distribute the deliveries over the instances.
 * - `rate_limits` has the windows of `--rate-limit`. It is unlogged, because its loss in a crash does no harm.
 *
 * Records are `text`: `jsonb` would reorder keys and refuse the character NUL.
 */
const migrations: readonly string[] = [
  `CREATE TABLE sandbox (
     one_row boolean PRIMARY KEY DEFAULT true CHECK (one_row),
     seq bigint NOT NULL DEFAULT 0,
     generation bigint NOT NULL DEFAULT 0
   ) WITH (fillfactor = 20);
   INSERT INTO sandbox DEFAULT VALUES;
   CREATE TABLE compacted (
     one_row boolean PRIMARY KEY DEFAULT true CHECK (one_row),
     seq bigint NOT NULL DEFAULT 0
   ) WITH (fillfactor = 20);
   INSERT INTO compacted DEFAULT VALUES;
   CREATE TABLE changes (
     seq bigint NOT NULL,
     place integer NOT NULL,
     collection text NOT NULL,
     id text NOT NULL,
     doc text,
     retires boolean NOT NULL,
     batch text,
     PRIMARY KEY (seq, place)
   );
   CREATE TABLE records (
     collection text NOT NULL,
     id text NOT NULL,
     doc text NOT NULL,
     PRIMARY KEY (collection, id)
   );
   ALTER TABLE changes ALTER COLUMN doc SET STORAGE EXTERNAL;
   ALTER TABLE records ALTER COLUMN doc SET STORAGE EXTERNAL;
   CREATE TABLE slots (
     slot integer PRIMARY KEY,
     owner text,
     lease_until timestamptz NOT NULL DEFAULT '-infinity'
   ) WITH (fillfactor = 20);
   INSERT INTO slots (slot) SELECT generate_series(0, 255);
   CREATE TABLE instances (
     id text PRIMARY KEY,
     seen_at timestamptz NOT NULL
   ) WITH (fillfactor = 20);`,
  `CREATE TABLE request_head (
     one_row boolean PRIMARY KEY DEFAULT true CHECK (one_row),
     number bigint NOT NULL DEFAULT 0,
     checkpoint bigint NOT NULL DEFAULT 0,
     removed bigint NOT NULL DEFAULT 0
   ) WITH (fillfactor = 20);
   INSERT INTO request_head DEFAULT VALUES;
   CREATE UNLOGGED TABLE requests (
     number bigint PRIMARY KEY,
     id text NOT NULL UNIQUE,
     instance text NOT NULL,
     generation bigint NOT NULL,
     sequence bigint NOT NULL,
     doc text NOT NULL
   );
   ALTER TABLE requests ALTER COLUMN doc SET STORAGE EXTERNAL;
   CREATE TABLE request_checkpoint (
     one_row boolean PRIMARY KEY DEFAULT true CHECK (one_row),
     number bigint NOT NULL,
     generation bigint NOT NULL,
     doc text NOT NULL
   );`,
  `CREATE UNLOGGED TABLE rate_limits (
     key varchar(255) PRIMARY KEY,
     points integer NOT NULL DEFAULT 0,
     expire bigint
   ) WITH (fillfactor = 20);`,
]

/**
 * Creates the schema, or applies the migrations that are missing. Instances that start together do so one after another. A
 * schema that is up to date is not changed, so that a role without the right to create one can serve it.
 * @throws DatabaseUnusable for a schema of a newer version, or one in which the role may not create tables.
 */
export async function migrate(database: Database, sandbox: string): Promise<void> {
  const { schema } = database
  const before = await database.transaction((query) => versionOf(query, sandbox), 'read only')
  if (before === migrations.length) return
  refuseNewer(before, sandbox)
  await database.transaction(async (query) => {
    await query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`tabwire ${sandbox}`])
    const version = await versionOf(query, sandbox)
    refuseNewer(version, sandbox)
    const [existing] = await query<{ role: string; may: boolean }>(
      `SELECT current_user AS role, has_schema_privilege(oid, 'USAGE') AND has_schema_privilege(oid, 'CREATE') AS may
       FROM pg_catalog.pg_namespace WHERE nspname = $1`,
      [sandbox],
    )
    if (existing?.may === false) throw mayNotMigrate(existing.role, sandbox, version)
    if (version === 0) {
      // Not by `IF NOT EXISTS`, which needs the right to create schemas also when an administrator has created this one.
      if (existing === undefined) await query(`CREATE SCHEMA ${schema}`)
      await query(`CREATE TABLE ${schema}.schema_version (version integer NOT NULL)`)
      await query(`INSERT INTO ${schema}.schema_version VALUES (0)`)
    }
    await query(`SET LOCAL search_path TO ${schema}`)
    for (const migration of migrations.slice(version)) await query(migration)
    await query(`UPDATE ${schema}.schema_version SET version = $1`, [migrations.length])
  })
}

/**
 * Checks in a read-only transaction that {@link migrate} would succeed. Returns the number of applied migrations; 0 for a
 * schema that does not exist or has no tables.
 * @throws The errors of {@link migrate}.
 */
export async function requireMigratable(database: Database, sandbox: string): Promise<number> {
  return database.transaction(async (query) => {
    const version = await versionOf(query, sandbox)
    refuseNewer(version, sandbox)
    if (version === migrations.length) return version
    const { role, may, database: name, mayCreate } = await rightsIn(query, sandbox)
    if (may === false) throw mayNotMigrate(role, sandbox, version)
    if (may === null && !mayCreate) throw denied(`permission denied for database ${name}`)
    if (version > 0) {
      const [table] = await query<{ may: boolean }>(`SELECT has_table_privilege($1, 'UPDATE') AS may`, [
        `"${sandbox}".schema_version`,
      ])
      if (table?.may !== true) throw denied('permission denied for table schema_version')
    }
    return version
  }, 'read only')
}

interface Rights {
  role: string
  /** True when the role may create tables in the schema; `null` without a schema. */
  may: boolean | null
  database: string
  mayCreate: boolean
}

async function rightsIn(query: Query, sandbox: string): Promise<Rights> {
  const [found] = await query<Rights>(
    `SELECT current_user AS role, current_database() AS database,
       has_database_privilege(current_database(), 'CREATE') AS "mayCreate",
       (SELECT has_schema_privilege(oid, 'USAGE') AND has_schema_privilege(oid, 'CREATE')
        FROM pg_catalog.pg_namespace WHERE nspname = $1) AS may`,
    [sandbox],
  )
  return found ?? { role: '', may: null, database: '', mayCreate: true }
}

/** Returns the error of the server for a statement that a role may not run. */
function denied(message: string): Error {
  return Object.assign(new Error(message), { code: '42501' })
}

/**
 * Checks that the role may read and write all tables, so that a start fails and not the first write.
 * @throws DatabaseUnusable with the statements that allow it.
 */
export async function requireRights(database: Database, sandbox: string): Promise<void> {
  const missing = await database.query<{ role: string; rights: string }>(
    `SELECT current_user AS role, string_agg(DISTINCT needed || ' on ' || relname, ', ') AS rights
     FROM pg_catalog.pg_class, unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) AS needed
     WHERE relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1) AND relkind = 'r'
       AND relname <> 'schema_version' AND NOT has_table_privilege(pg_class.oid, needed)
     HAVING count(*) > 0`,
    [sandbox],
  )
  for (const { role, rights } of missing)
    throw new DatabaseUnusable(
      `--store: the role "${role}" lacks ${rights} in the schema "${sandbox}". As its owner, run:\n${grantsFor(sandbox, role)}`,
    )
}

/** Returns the number of applied migrations; 0 when the schema does not exist. */
async function versionOf(query: Query, sandbox: string): Promise<number> {
  // Not by `to_regclass`, which may remember that the table was missing before this transaction waited for the lock.
  const tables = await query(
    `SELECT FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'schema_version'`,
    [sandbox],
  )
  if (tables.length === 0) return 0
  const [row] = await query<{ version: number }>(`SELECT version FROM "${sandbox}".schema_version`)
  return row?.version ?? 0
}

function refuseNewer(version: number, sandbox: string): void {
  if (version > migrations.length)
    throw new DatabaseUnusable(
      `--store: the sandbox ${sandbox} was made by a newer version of Tabwire (schema ${version}; this version knows ${migrations.length}). Update this instance.`,
    )
}
