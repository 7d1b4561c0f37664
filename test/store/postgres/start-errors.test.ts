import { chmod, chown, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { put } from '../../../src/model/records.ts'
import {
  checkDatabase,
  openPostgresStore,
  type PostgresStore,
} from '../../../src/store/postgres/postgres-store.ts'
import { selfSigned } from '../../support/self-signed.ts'
import { postgresPrograms, startCluster, type Cluster } from '../../support/postgres.ts'

const PASSWORD = 'correct-horse/battery'

/** Opens a sandbox and expects that it fails. Returns the message of the error. */
async function refusal(url: string, sandbox = 'refused'): Promise<string> {
  const opened = await openPostgresStore({ url, sandbox }).catch((error: unknown) => error)
  if (!(opened instanceof Error)) {
    await (opened as PostgresStore).close()
    throw new Error('The store opened.')
  }
  expect(opened.name).toBe('DatabaseUnusable')
  // `doctor` says the same, and changes nothing.
  expect(await checkDatabase({ url, sandbox })).toBe(opened.message)
  for (const secret of [PASSWORD, encodeURIComponent(PASSWORD)]) expect(opened.message).not.toContain(secret)
  return opened.message
}

describe.skipIf(postgresPrograms === undefined)('a database that a start cannot use', () => {
  let cluster: Cluster
  /** A loopback address of this test's own, so that the server can have its usual port. */
  const host = `127.9.${(process.pid >> 8) & 255}.${(process.pid & 127) + 1}`
  let admin: pg.Client
  const at = (user: string, { password = PASSWORD, database = 'postgres', query = '' } = {}) =>
    `postgres://${user}:${encodeURIComponent(password)}@${host}/${database}${query}`

  beforeAll(async () => {
    cluster = await startCluster({ listen_addresses: host })
    admin = new pg.Client(cluster.url)
    await admin.connect()
    const role = `LOGIN PASSWORD '${PASSWORD}'`
    await admin.query(`CREATE ROLE owner ${role}; CREATE ROLE runner ${role}; CREATE ROLE stranger ${role}`)
    await admin.query('CREATE SCHEMA prepared AUTHORIZATION owner')
    await writeFile(
      join(cluster.directory, 'data/pg_hba.conf'),
      [
        'local all all trust',
        'host all stranger 127.0.0.0/8 reject',
        'host all all 127.0.0.0/8 scram-sha-256',
      ]
        .map((line) => `${line}\n`)
        .join(''),
    )
    await writeCertificate(join(cluster.directory, 'data'))
    await admin.query('SELECT pg_reload_conf()')
  })
  afterAll(async () => {
    await admin.end()
    await cluster.stop()
  })

  test('because no server is there', async () => {
    expect(await refusal(`postgres://u:${encodeURIComponent(PASSWORD)}@127.0.0.1:1/x`)).toBe(
      `--store: 127.0.0.1:1 refused the connection (ECONNREFUSED). Check host and port, and that PostgreSQL runs there.`,
    )
    expect(
      await refusal(`postgres://u@localhost/x?host=${encodeURIComponent(cluster.directory)}&port=1`),
    ).toBe(
      `--store: no PostgreSQL server listens on the socket ${cluster.directory}/.s.PGSQL.1 (ENOENT). Start it, or correct the URL.`,
    )
  })

  test('because the host has no address', async () => {
    expect(await refusal('postgres://u@no-such-host.invalid/x')).toMatch(
      /^--store: the host no-such-host\.invalid has no address \(E\w+\)\. Check the name in the URL\.$/,
    )
  })

  test('because the password is wrong, or missing', async () => {
    expect(await refusal(at('owner', { password: `${PASSWORD}!` }))).toBe(
      '--store: the server refused the password of the role "owner" (28P01). Correct it in the URL, PGPASSWORD or the file of PGPASSFILE.',
    )
    expect(await refusal(`postgres://owner@${host}/postgres`)).toBe(
      '--store: the server asks for the password of the role "owner", and there is none. Set PGPASSWORD, or the file of PGPASSFILE.',
    )
    expect(await refusal(at('stranger'))).toMatch(
      /^--store: the server refused the role "stranger" \(28000: pg_hba\.conf rejects connection .*\)\. Correct the URL, or allow it in pg_hba\.conf\.$/,
    )
  })

  test('because the database does not exist', async () => {
    expect(await refusal(at('owner', { database: 'missing' }))).toBe(
      '--store: the database "missing" does not exist (3D000). As an administrator, run: CREATE DATABASE "missing" OWNER "owner"',
    )
  })

  test('because the schema is of a newer version', async () => {
    await admin.query(
      'CREATE SCHEMA newer AUTHORIZATION owner; CREATE TABLE newer.schema_version AS SELECT 999 AS version; ALTER TABLE newer.schema_version OWNER TO owner',
    )
    expect(await refusal(at('owner'), 'newer')).toMatch(
      /^--store: the sandbox newer was made by a newer version of Tabwire \(schema 999; this version knows \d+\)\. Update this instance\.$/,
    )
  })

  test('because the role lacks rights, which the statement in the error grants', async () => {
    const message = await refusal(at('owner'), 'mine')
    expect(message).toBe(
      '--store: the role "owner" may not create the schema "mine" (42501). As an administrator of "postgres", run: CREATE SCHEMA "mine" AUTHORIZATION "owner"',
    )
    await admin.query(message.slice(message.indexOf('CREATE')))
    expect(await checkDatabase({ url: at('owner'), sandbox: 'mine' })).toBeUndefined()
    expect((await admin.query(`SELECT FROM pg_tables WHERE schemaname = 'mine'`)).rows).toEqual([])
    await (await openPostgresStore({ url: at('owner'), sandbox: 'mine' })).close()

    const stranger = await refusal(at('runner'), 'mine')
    expect(stranger).toBe(
      '--store: the role "runner" may not use the schema "mine" (42501: permission denied for schema mine). As its owner, run:\n' +
        'GRANT USAGE ON SCHEMA "mine" TO "runner"; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "mine" TO "runner"',
    )
    await admin.query(stranger.split('\n')[1] ?? '')
    await admin.query('REVOKE DELETE ON mine.changes FROM runner')
    expect(await refusal(at('runner'), 'mine')).toMatch(
      /^--store: the role "runner" lacks DELETE on changes in the schema "mine"\. As its owner, run:\nGRANT USAGE /,
    )
    await admin.query(stranger.split('\n')[1] ?? '')
    const store = await openPostgresStore({ url: at('runner'), sandbox: 'mine' })
    const location = { id: 'loc_1', name: 'n', timezone: 'UTC', currency: 'EUR', created_at: '' }
    await store.transact({}, () => ({ writes: [put('locations', location)] }))
    await store.replace((all) => all)
    expect((await store.list('locations', { limit: 10 })).data).toHaveLength(1)
    await store.close()
  })

  test('because it needs a migration, and the role may not create tables', async () => {
    await admin.query('CREATE SCHEMA empty AUTHORIZATION owner; GRANT USAGE ON SCHEMA empty TO runner')
    const message = await refusal(at('runner'), 'empty')
    expect(message).toBe(
      '--store: the role "runner" may not create tables in the schema "empty". As its owner, run:\n' +
        'GRANT USAGE, CREATE ON SCHEMA "empty" TO "runner"',
    )
    await admin.query(message.split('\n')[1] ?? '')
    await (await openPostgresStore({ url: at('runner'), sandbox: 'empty' })).close()

    await admin.query('CREATE SCHEMA older AUTHORIZATION owner; GRANT USAGE ON SCHEMA older TO runner')
    await (await openPostgresStore({ url: at('owner'), sandbox: 'older' })).close()
    await admin.query('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA older TO runner')
    await admin.query('UPDATE older.schema_version SET version = version - 1')
    expect(await refusal(at('runner'), 'older')).toBe(
      '--store: the schema "older" needs a migration, and the role "runner" is not its owner (42501). Start one instance with the role of the owner first.',
    )
    expect(await checkDatabase({ url: at('owner'), sandbox: 'older' })).toBeUndefined()
    await admin.query(
      'DROP TABLE older.rate_limits; GRANT CREATE ON SCHEMA older TO runner; REVOKE UPDATE ON older.schema_version FROM runner',
    )
    expect(await refusal(at('runner'), 'older')).toMatch(
      /^--store: the role "runner" may not use the schema "older" \(42501: permission denied for table schema_version\)\./,
    )
  })

  test('does not result from the roles of the guide: the owner migrates, and the other role serves', async () => {
    const guide = await readFile(new URL('../../../src/guides/shared-sandbox.md', import.meta.url), 'utf8')
    const [, create = '', allow = ''] = guide.split('```sql\n').map((part) => part.split('\n```')[0])
    const withPassword = (sql: string) => sql.replaceAll('change-me', PASSWORD)
    await admin.query(withPassword(create).replaceAll('tabwire', 'guided'))
    await (await openPostgresStore({ url: at('guided'), sandbox: 'team' })).close()
    await admin.query(withPassword(allow).replaceAll('tabwire', 'guided'))
    const store = await openPostgresStore({ url: at('guided_runtime'), sandbox: 'team' })
    await store.values.update('credentials', () => ({ value: 'written', reply: 0 }))
    await store.replace((all) => all)
    expect(store.values.get('credentials')).toBe('written')
    await store.close()
  })

  test('because of TLS', async () => {
    expect(await refusal(at('owner', { query: '?sslmode=verify-full' }), 'prepared')).toMatch(
      /^--store: [\d.]+:5432 does not support TLS\. Enable ssl on the server, or pass sslmode=disable in the URL\.$/,
    )
    await admin.query('ALTER SYSTEM SET ssl = on')
    await admin.query('SELECT pg_reload_conf()')
    const root = join(cluster.directory, 'data/server.crt')
    expect(await refusal(at('owner', { query: '?sslmode=verify-full' }), 'prepared')).toBe(
      `--store: the certificate of ${host}:5432 is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT). Pass the PEM file of its authority: sslrootcert=FILE in the URL.`,
    )
    expect(
      await refusal(at('owner', { query: `?sslmode=verify-full&sslrootcert=${root}` }), 'prepared'),
    ).toBe(
      `--store: the certificate of ${host} is for another host name (ERR_TLS_CERT_ALTNAME_INVALID). Correct the host in the URL, or pass sslmode=verify-ca.`,
    )
    await mkdir(join(cluster.directory, 'other'))
    await writeCertificate(join(cluster.directory, 'other'))
    const other = join(cluster.directory, 'other/server.crt')
    for (const mode of ['verify-ca', 'require'])
      expect(
        await refusal(at('owner', { query: `?sslmode=${mode}&sslrootcert=${other}` }), 'prepared'),
      ).toMatch(/^--store: the certificate of \S+ is not trusted /)
    for (const query of [
      '?sslmode=require',
      `?sslmode=require&sslrootcert=${root}`,
      '?sslmode=prefer',
      `?sslmode=verify-ca&sslrootcert=${root}`,
      '?sslmode=disable',
      '',
    ]) {
      const store = await openPostgresStore({ url: at('owner', { query }), sandbox: 'prepared' })
      const [row] = await store.database.query<{ ssl: boolean }>(
        'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
      )
      expect([query, row?.ssl]).toEqual([query, query.includes('re') || query.includes('verify')])
      await store.close()
    }
  })

  test('because of a wrong setting in the URL', async () => {
    expect(await refusal(at('owner', { query: '?sslmode=strict' }))).toBe(
      '--store: sslmode must be disable, prefer, require, verify-ca, verify-full, got "strict".',
    )
    expect(await refusal(at('owner', { query: '?sslmode=verify-ca' }))).toBe(
      '--store: sslmode=verify-ca needs the authority of the server. Add sslrootcert=FILE to the URL.',
    )
    expect(await refusal(at('owner', { query: '?sslmode=verify-ca&sslrootcert=/no/such.pem' }))).toBe(
      '--store: cannot read the certificate file /no/such.pem (ENOENT). Correct sslrootcert, sslcert or sslkey in the URL.',
    )
    expect(await refusal('postgres://u@localhost/%E0%A4%A')).toBe(
      '--store: the URL cannot be read. Write special characters in it as %XX, such as %40 for @.',
    )
  })
})

describe('a server that is not PostgreSQL', () => {
  test('does not answer', async () => {
    const { url, close } = await listen(() => {})
    expect(await refusal(url)).toMatch(
      /^--store: 127\.0\.0\.1:\d+ does not answer\. Check host and port, and that no firewall is in between\.$/,
    )
    await close()
  })

  test('resets connections', async () => {
    const { url, close } = await listen((socket) => socket.resetAndDestroy())
    expect(await refusal(url)).toMatch(
      /^--store: 127\.0\.0\.1:\d+ closed the connection\. Check that PostgreSQL runs there, and its log\.$/,
    )
    await close()
  })

  test('is a connection pooler that refuses settings', async () => {
    const text = 'SFATAL\0C08P01\0Munsupported startup parameter: statement_timeout\0\0'
    const { url, close } = await listen((socket) => {
      const head = Buffer.alloc(5, 'E')
      head.writeInt32BE(text.length + 4, 1)
      socket.once('data', () => socket.end(Buffer.concat([head, Buffer.from(text)])))
    })
    expect(await refusal(url)).toBe(
      '--store: a connection pooler refuses settings of the connection (unsupported startup parameter: statement_timeout). Connect to the server itself, or set ignore_startup_parameters of PgBouncer.',
    )
    await close()
  })
})

/** Listens on a free port of this machine. `close` ends all connections. */
async function listen(onSocket: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    onSocket(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `postgres://u:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/x`,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Writes a certificate and its key for another host, as the owner of the directory. */
async function writeCertificate(directory: string): Promise<void> {
  const { cert, key } = await selfSigned('db.test', ['db.test'])
  const keyFile = join(directory, 'server.key')
  await writeFile(keyFile, key, { mode: 0o600 })
  await writeFile(join(directory, 'server.crt'), cert)
  await chmod(join(directory, 'server.crt'), 0o644)
  const { uid, gid } = await stat(directory)
  await chown(keyFile, uid, gid)
}
