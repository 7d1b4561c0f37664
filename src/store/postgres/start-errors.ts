import type { Client, ClientConfig } from 'pg'
import { codeOf } from '../errors.ts'

/** The settings of `--store` are wrong, or the server refuses them. The message says what to change. */
export class DatabaseUnusable extends Error {
  override readonly name = 'DatabaseUnusable'
}

/** Where connections lead, as messages name it. The password is in `connectionString` only. */
interface DatabaseTarget {
  connectionString: string
  host: string
  port: number
  user: string
  database: string
  schema: string
}

/** Values of `sslmode`. A connection with `prefer` is encrypted, too: there is no second attempt without TLS. */
const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full']

/**
 * Reads the URL of `--store`, with the variables of libpq for what it lacks.
 * @throws DatabaseUnusable for a wrong setting, or a file of a certificate that cannot be read.
 */
export function targetOf(
  url: string,
  schema: string,
  connect: (config: ClientConfig) => Pick<Client, 'host' | 'port' | 'user' | 'database'>,
): DatabaseTarget {
  try {
    const address = new URL(url)
    const mode = address.searchParams.get('sslmode')
    if (mode !== null && !sslModes.includes(mode))
      throw new DatabaseUnusable(
        `--store: sslmode must be ${sslModes.join(', ')}, got ${JSON.stringify(mode.slice(0, 40))}.`,
      )
    // With the meaning of libpq; the driver's own is another, and it warns of that.
    if (mode !== null) address.searchParams.set('uselibpqcompat', 'true')
    const connectionString = address.href
    const { host, port, user = '', database = user } = connect({ connectionString })
    return { connectionString, host, port, user, database, schema }
  } catch (cause) {
    if (cause instanceof DatabaseUnusable) throw cause
    throw new DatabaseUnusable(`--store: ${wrongSetting(cause)}`, { cause })
  }
}

function wrongSetting(error: unknown): string {
  const { path, message } = error as NodeJS.ErrnoException
  const code = codeOf(error)
  if (path !== undefined)
    return `cannot read the certificate file ${path} (${code}). Correct sslrootcert, sslcert or sslkey in the URL.`
  if (message.includes('verify-ca'))
    return 'sslmode=verify-ca needs the authority of the server. Add sslrootcert=FILE to the URL.'
  return 'the URL cannot be read. Write special characters in it as %XX, such as %40 for @.'
}

/** Returns an error of the start with what to change. It has no password, and no text of the URL but host, role and names. */
export function startError(error: unknown, target: DatabaseTarget): DatabaseUnusable {
  if (error instanceof DatabaseUnusable) return error
  return new DatabaseUnusable(`--store: ${whyNotOpened(error, target)}`, { cause: error })
}

function whyNotOpened(error: unknown, target: DatabaseTarget): string {
  const { host, port, user, database, schema } = target
  const code = codeOf(error) ?? ''
  const message = error instanceof Error ? error.message : String(error)
  const place = host.startsWith('/') ? `${host}/.s.PGSQL.${port}` : `${host}:${port}`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `the host ${host} has no address (${code}). Check the name in the URL.`
  if (code === 'ECONNREFUSED')
    return `${place} refused the connection (${code}). Check host and port, and that PostgreSQL runs there.`
  if (code === 'ENOENT')
    return `no PostgreSQL server listens on the socket ${place} (${code}). Start it, or correct the URL.`
  if (code === '28P01')
    return `the server refused the password of the role "${user}" (${code}). Correct it in the URL, PGPASSWORD or the file of PGPASSFILE.`
  if (code === '28000')
    return `the server refused the role "${user}" (${code}: ${message}). Correct the URL, or allow it in pg_hba.conf.`
  if (message.includes('client password must be a'))
    return `the server asks for the password of the role "${user}", and there is none. Set PGPASSWORD, or the file of PGPASSFILE.`
  if (code === '3D000')
    return `the database "${database}" does not exist (${code}). As an administrator, run: CREATE DATABASE "${database}" OWNER "${user}"`
  if (code === '53300')
    return `the server has no free connection (${code}). Raise max_connections, or stop other clients.`
  if (code === '57P03')
    return `the server is starting up or shutting down (${code}). Start again when it is ready.`
  if (code === '25006')
    return `the server is read-only, such as a replica (${code}). Correct the URL: use the primary server.`
  if (code === '42501') return notAllowed(message, target)
  if (message.includes('unsupported startup parameter'))
    return `a connection pooler refuses settings of the connection (${message}). Connect to the server itself, or set ignore_startup_parameters of PgBouncer.`
  if (message.includes('does not support SSL'))
    return `${place} does not support TLS. Enable ssl on the server, or pass sslmode=disable in the URL.`
  if (/altname/i.test(code + message))
    return `the certificate of ${host} is for another host name (${code}). Correct the host in the URL, or pass sslmode=verify-ca.`
  if (/CERT|SIGNATURE|ISSUER|SELF_SIGNED/.test(code))
    return `the certificate of ${place} is not trusted (${code}). Pass the PEM file of its authority: sslrootcert=FILE in the URL.`
  if (/SSL|TLS|EPROTO/.test(code)) return `no TLS connection to ${place} (${code}). Check sslmode in the URL.`
  if (/time.?out|in time/i.test(message) || code === 'ETIMEDOUT' || code === 'EHOSTUNREACH')
    return `${place} does not answer. Check host and port, and that no firewall is in between.`
  if (/terminated|ended|closed|lost/i.test(message) || code === 'ECONNRESET')
    return `${place} closed the connection. Check that PostgreSQL runs there, and its log.`
  return `the sandbox ${schema} cannot be opened at ${place} (${code === '' ? message : `${code}: ${message}`}).`
}

function notAllowed(message: string, { user, database, schema }: DatabaseTarget): string {
  if (message.includes('for database'))
    return `the role "${user}" may not create the schema "${schema}" (42501). As an administrator of "${database}", run: CREATE SCHEMA "${schema}" AUTHORIZATION "${user}"`
  if (message.includes('owner of')) return needsOwner(user, schema)
  return `the role "${user}" may not use the schema "${schema}" (42501: ${message}). As its owner, run:\n${grantsFor(schema, user)}`
}

function needsOwner(role: string, schema: string): string {
  return `the schema "${schema}" needs a migration, and the role "${role}" is not its owner (42501). Start one instance with the role of the owner first.`
}

/** Returns the error of a role that may not create tables in a schema of this version; 0 is a schema without tables. */
export function mayNotMigrate(role: string, schema: string, version: number): DatabaseUnusable {
  const reason =
    version > 0
      ? needsOwner(role, schema)
      : `the role "${role}" may not create tables in the schema "${schema}". As its owner, run:\nGRANT USAGE, CREATE ON SCHEMA "${schema}" TO "${role}"`
  return new DatabaseUnusable(`--store: ${reason}`)
}

/** Statements by which the owner of a schema allows a role to serve it. */
export function grantsFor(schema: string, role: string): string {
  return [
    `GRANT USAGE ON SCHEMA "${schema}" TO "${role}"`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${schema}" TO "${role}"`,
  ].join('; ')
}
