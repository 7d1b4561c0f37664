import type { Everything, Write } from '../../model/records.ts'
import { collectionNames } from '../tables/tables.ts'
import type { Database, Query } from './database.ts'
import type { SecretBox } from './secret-box.ts'

/** Name of the collection in which the values of the sandbox are stored, beside the records. */
export const VALUES = 'values'

/** A value of the sandbox under its key, as JSON text; `null` removes it. */
export interface ValueWrite {
  key: string
  json: string | null
}

/** One transaction: what it writes, in order. */
export interface Change {
  writes: readonly Write[]
  values: readonly ValueWrite[]
}

/** A written record or value as text. */
export interface ChangeRow {
  collection: string
  id: string
  /** JSON; `null` removes it. */
  doc: string | null
  retires: boolean
}

/** Returns the rows of a transaction, with sealed secrets. @throws TypeError for a value that JSON cannot hold. */
export function rowsOf({ writes, values }: Change, box: SecretBox): readonly ChangeRow[] {
  return [
    ...writes.map((write) => ({
      collection: write.collection,
      id: 'put' in write ? write.put.id : write.remove,
      doc: 'put' in write ? (write.json ?? docOf(write.collection, write.put, box)) : null,
      retires: 'put' in write && write.retires === true,
    })),
    ...values.map(({ key, json }) => ({
      collection: VALUES,
      id: key,
      doc: json === null ? null : box.seal(json, `${VALUES}/${key}`),
      retires: false,
    })),
  ]
}

/** Returns a record as text. The signing secret of an endpoint is sealed. */
function docOf(collection: string, record: object & { id: string }, box: SecretBox): string {
  return JSON.stringify(
    'signing_secret' in record && typeof record.signing_secret === 'string'
      ? { ...record, signing_secret: box.seal(record.signing_secret, `${collection}/${record.id}`) }
      : record,
  )
}

function recordOf(collection: string, doc: string, box: SecretBox): unknown {
  const record = JSON.parse(doc) as { id: string; signing_secret?: string }
  if (record.signing_secret === undefined) return record
  return { ...record, signing_secret: box.open(record.signing_secret, `${collection}/${record.id}`) }
}

function valueOf(key: string, doc: string, box: SecretBox): string {
  return box.open(doc, `${VALUES}/${key}`)
}

/** Changes of others that a store has not applied yet. */
interface Catchup {
  /** True when further changes follow. */
  more: boolean
  changes: readonly Change[]
  /** Batches that wrote these changes. */
  batches: ReadonlySet<string>
  /** True when the next change is no longer stored: it was compacted long ago, or all records were replaced. */
  isLost: boolean
}

/** Everything in the database at one moment. */
export interface Contents {
  seq: number
  generation: number
  records: Everything
  values: ReadonlyMap<string, string>
}

/** The journal in the database. Every method is one statement, unless noted. */
export interface SharedJournal {
  /**
   * Appends transactions, each with at least one row, after `seq`. Resolves with false, and writes nothing, when others
   * have written since, or have replaced all records.
   */
  append(
    transactions: readonly (readonly ChangeRow[])[],
    after: { seq: number; batch: string; ms: number },
  ): Promise<boolean>
  /** Reads the changes after `seq`, at most {@link MOST_TRANSACTIONS}. */
  catchUp(after: { seq: number }): Promise<Catchup>
  /**
   * Runs `work` in one transaction, during which no other instance appends. Instances take turns in the order of their
   * calls. Resolves once the transaction is durable.
   */
  inTurn<T>(work: (own: Appending) => Promise<T>): Promise<T>
  /** Reads everything, in one transaction. */
  load(): Promise<Contents>
  /** Replaces all records, in one transaction. Resolves with false when others have written since `seq`. */
  replace(records: Everything, after: { seq: number }): Promise<boolean>
  /**
   * Writes changes to the records and removes old ones, in one transaction. Resolves with false when there is nothing
   * to write, or another instance compacts the journal now.
   */
  compact(): Promise<boolean>
}

/** Methods of the journal that a batch uses. */
export type Appending = Pick<SharedJournal, 'append' | 'catchUp'>

/** Most transactions that one statement reads. With this upper bound, the server uses the index without statistics. */
const MOST_TRANSACTIONS = 1_000
/** Transactions that one compaction takes. */
const COMPACTED_AT_ONCE = 5_000
/** Compacted transactions that stay in the journal, so that slower instances need not load everything again. */
const KEPT_COMPACTED = 20_000
/** Records that one statement of a replacement writes: few, so that a lost connection is noticed soon. */
const REPLACED_AT_ONCE = 400
/** Milliseconds that this process has to read the answer to a load; it may still be on the way when the server is done. */
const READING_MS = 120_000

export function openSharedJournal({ schema, query, transaction }: Database, box: SecretBox): SharedJournal {
  return {
    ...appendingBy(query, schema, box),
    inTurn: (work) =>
      transaction(async (own) => {
        // Others wait for this transaction, so it must not wait for this process for long.
        await own('SET LOCAL idle_in_transaction_session_timeout = 1000')
        await own(`SELECT FROM ${schema}.sandbox FOR UPDATE`)
        return work(appendingBy(own, schema, box))
      }),
    load: () => transaction((read) => load(read, schema, box), 'read only'),
    replace: (records, { seq }) => transaction((run) => replace(run, schema, records, seq, box)),
    compact: () => transaction((run) => compact(run, schema)),
  }
}

function appendingBy(query: Query, schema: string, box: SecretBox): Appending {
  return {
    async append(transactions, { seq, batch, ms }) {
      const rows = transactions.flatMap((all, nth) => all.map((row) => ({ ...row, nth: nth + 1 })))
      const head = await query(
        `WITH head AS (
           UPDATE ${schema}.sandbox SET seq = seq + $1 WHERE seq = $2 RETURNING seq
         ), appended AS (
           INSERT INTO ${schema}.changes (seq, place, collection, id, doc, retires, batch)
           SELECT $2 + row.nth, row.place, row.collection, row.id, row.doc, row.retires, $9
           FROM head, unnest($3::bigint[], $4::integer[], $5::text[], $6::text[], string_to_array($7, E'\\x01', ''), $8::boolean[])
             AS row (nth, place, collection, id, doc, retires)
         )
         SELECT seq FROM head`,
        [
          transactions.length,
          seq,
          rows.map(({ nth }) => nth),
          rows.map((_row, place) => place),
          rows.map(({ collection }) => collection),
          rows.map(({ id }) => id),
          // JSON has no control characters. The driver would escape an array of texts character by character.
          rows.map(({ doc }) => doc ?? '').join('\u0001'),
          rows.map(({ retires }) => retires),
          batch,
        ],
        ms,
      )
      return head.length > 0
    },
    async catchUp({ seq }) {
      const rows = await query<RowOfChange>(
        // With the limit of one row, the server plans for one row without statistics, and does not compile the plan for 10 ms.
        `SELECT s.seq AS head, c.seq, c.collection, c.id, c.doc, c.retires, c.batch
         FROM (SELECT seq FROM ${schema}.sandbox LIMIT 1) s LEFT JOIN ${schema}.changes c ON c.seq > $1 AND c.seq <= $1 + $2
         ORDER BY c.seq, c.place`,
        [seq, MOST_TRANSACTIONS],
      )
      return catchupOf(rows, seq, box)
    },
  }
}

/** A row of the catch-up. Without changes there is one row, whose other columns are `null`. */
type RowOfChange = { head: string } & ({ seq: null } | (ChangeRow & { seq: string; batch: string | null }))

/** Groups rows into transactions. */
function catchupOf(rows: readonly RowOfChange[], after: number, box: SecretBox): Catchup {
  const [first] = rows
  const head = Number(first?.head)
  const bySeq = new Map<number, ChangeRow[]>()
  const batches = new Set<string>()
  for (const row of rows) {
    if (row.seq === null) continue
    const seq = Number(row.seq)
    const rowsOfSeq = bySeq.get(seq)
    if (rowsOfSeq === undefined) bySeq.set(seq, [row])
    else rowsOfSeq.push(row)
    if (row.batch !== null) batches.add(row.batch)
  }
  const [oldest] = bySeq.keys()
  return {
    more: head > after + bySeq.size,
    changes: Array.from(bySeq.values(), (some) => changeOf(some, box)),
    batches,
    isLost: head > after && oldest !== after + 1,
  }
}

function changeOf(rows: readonly ChangeRow[], box: SecretBox): Change {
  const writes: Write[] = []
  const values: ValueWrite[] = []
  for (const { collection, id, doc, retires } of rows)
    if (collection === VALUES) values.push({ key: id, json: doc === null ? null : valueOf(id, doc, box) })
    else if (doc === null) writes.push({ collection, remove: id } as Write)
    else
      writes.push({ collection, put: recordOf(collection, doc, box), ...(retires && { retires }) } as Write)
  return { writes, values }
}

interface Head {
  seq: string
  generation: string
}

type CurrentRow = Pick<ChangeRow, 'collection' | 'id' | 'doc'>

/** Returns the statement that reads all records and values, without order. */
function currentRows(schema: string): string {
  return `SELECT collection, id, doc FROM (
       SELECT collection, id, doc FROM ${schema}.records r WHERE NOT EXISTS (
         SELECT FROM ${schema}.changes c, ${schema}.compacted f
         WHERE c.seq > f.seq AND c.collection = r.collection AND c.id = r.id)
       UNION ALL
       SELECT * FROM (
         SELECT DISTINCT ON (collection, id) collection, id, doc FROM ${schema}.changes
         WHERE seq > (SELECT seq FROM ${schema}.compacted) ORDER BY collection, id, seq DESC, place DESC
       ) latest WHERE doc IS NOT NULL
     ) all_records`
}

/** Opens all stored secrets, as a start does. @throws DatabaseUnusable without their key. */
export async function openSecrets(query: Query, schema: string, box: SecretBox): Promise<void> {
  const rows = await query<CurrentRow>(
    `${currentRows(schema)} WHERE collection = 'endpoints' OR collection = '${VALUES}'`,
  )
  for (const { collection, id, doc } of rows)
    if (collection === VALUES) valueOf(id, doc ?? '', box)
    else recordOf(collection, doc ?? '', box)
}

async function load(query: Query, schema: string, box: SecretBox): Promise<Contents> {
  // The transaction only reads, so nothing waits for it.
  await query(`SET LOCAL idle_in_transaction_session_timeout = ${READING_MS}`)
  const [head] = await query<Head>(`SELECT seq, generation FROM ${schema}.sandbox`)
  const rows = await query<CurrentRow>(`${currentRows(schema)} ORDER BY collection, id COLLATE "C"`)
  const records = Object.fromEntries(collectionNames.map((name) => [name, [] as unknown[]]))
  const values = new Map<string, string>()
  for (const { collection, id, doc } of rows)
    if (collection === VALUES) values.set(id, valueOf(id, doc ?? '', box))
    else records[collection]?.push(recordOf(collection, doc ?? '', box))
  return {
    seq: Number(head?.seq),
    generation: Number(head?.generation),
    records: records as unknown as Everything,
    values,
  }
}

/** Milliseconds that a replacement may keep others waiting between two statements, such as while its process is stopped. */
const PAUSE_MS = 3_000

/** Values of the sandbox stay, such as the secret of table addresses. */
async function replace(
  query: Query,
  schema: string,
  records: Everything,
  seq: number,
  box: SecretBox,
): Promise<boolean> {
  await query(`SET LOCAL idle_in_transaction_session_timeout = ${PAUSE_MS}`)
  const head = await query(
    `UPDATE ${schema}.sandbox SET seq = seq + 1, generation = generation + 1
     WHERE seq = $1 RETURNING seq`,
    [seq],
  )
  if (head.length === 0) return false
  const [compacted] = await query<Pick<Head, 'seq'>>(`SELECT seq FROM ${schema}.compacted FOR UPDATE`)
  await compactSpan(query, schema, Number(compacted?.seq), seq)
  await query(`DELETE FROM ${schema}.records WHERE collection <> '${VALUES}'`)
  await query(`DELETE FROM ${schema}.changes`)
  await query(`UPDATE ${schema}.compacted SET seq = $1`, [seq + 1])
  for (const name of collectionNames)
    for (let at = 0; at < records[name].length; at += REPLACED_AT_ONCE) {
      const some = records[name].slice(at, at + REPLACED_AT_ONCE)
      await query(
        `INSERT INTO ${schema}.records (collection, id, doc) SELECT $1, id, doc FROM unnest($2::text[], $3::text[]) AS row (id, doc)`,
        [name, some.map(({ id }) => id), some.map((record) => docOf(name, record, box))],
      )
    }
  return true
}

async function compact(query: Query, schema: string): Promise<boolean> {
  const [state] = await query<{ compacted: string; head: string }>(
    `SELECT f.seq AS compacted, s.seq AS head FROM ${schema}.compacted f, ${schema}.sandbox s FOR UPDATE OF f SKIP LOCKED`,
  )
  const from = Number(state?.compacted)
  const to = Math.min(Number(state?.head), from + COMPACTED_AT_ONCE)
  if (state === undefined || to === from) return false
  await compactSpan(query, schema, from, to)
  await query(`DELETE FROM ${schema}.changes WHERE seq <= $1`, [to - KEPT_COMPACTED])
  await query(`UPDATE ${schema}.compacted SET seq = $1`, [to])
  return true
}

/** Brings the records from sequence `from` to `to`. */
async function compactSpan(query: Query, schema: string, from: number, to: number): Promise<void> {
  await query(
    `WITH latest AS (
       SELECT DISTINCT ON (collection, id) collection, id, doc FROM ${schema}.changes
       WHERE seq > $1 AND seq <= $2 ORDER BY collection, id, seq DESC, place DESC
     ), removed AS (
       DELETE FROM ${schema}.records r USING latest l
       WHERE l.doc IS NULL AND r.collection = l.collection AND r.id = l.id
     )
     INSERT INTO ${schema}.records (collection, id, doc)
     SELECT collection, id, doc FROM latest WHERE doc IS NOT NULL
     ON CONFLICT (collection, id) DO UPDATE SET doc = excluded.doc`,
    [from, to],
  )
}
