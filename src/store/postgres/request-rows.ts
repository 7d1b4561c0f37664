import type { NumberedRow, RequestRows } from '../../model/simulator/request-entry.ts'
import { orUnavailable, type Database, type Value } from './database.ts'

/** Most entries that one statement reads. */
const MOST_ROWS = 500

/** @throws Refusal `storage_unavailable`, in each method. */
export function createRequestRows(
  { schema, query, transaction }: Pick<Database, 'schema' | 'query' | 'transaction'>,
  instance: string,
): RequestRows {
  const run = <Row = object>(text: string, values: readonly Value[]) =>
    orUnavailable(query<Row>(text, values))
  return {
    async append(rows) {
      // The update locks the head until the commit, so that a lower number is never visible later than a higher one.
      await run(
        // An answer need not wait for the disk of the server: the log may lose its end when the server ends without notice.
        `WITH relaxed AS (SELECT set_config('synchronous_commit', 'off', true)),
           head AS (UPDATE ${schema}.request_head SET number = number + $1 RETURNING number)
         INSERT INTO ${schema}.requests (number, id, instance, generation, sequence, doc)
         SELECT head.number - $1 + row.place, row.id, $2, row.generation, row.sequence, row.doc
         FROM relaxed, head, unnest($3::text[], $4::bigint[], $5::bigint[], string_to_array($6, E'\\x01'))
           WITH ORDINALITY AS row (id, generation, sequence, doc, place)
         ON CONFLICT (id) DO NOTHING`,
        [
          rows.length,
          instance,
          rows.map(({ id }) => id),
          rows.map(({ generation }) => generation),
          rows.map(({ sequence }) => sequence),
          // JSON has no control characters. The driver would escape an array of texts character by character.
          rows.map(({ doc }) => doc).join('\u0001'),
        ],
      )
    },
    async after(number) {
      const rows = await run<PageRow>(
        // With the limits of one row, the server plans for one row without statistics.
        `SELECT (SELECT id FROM ${schema}.requests WHERE number = $1) AS last, h.removed, h.checkpoint, s.generation AS current,
           r.number, r.id, r.generation, r.sequence, CASE WHEN r.instance = $3 THEN NULL ELSE r.doc END AS doc
         FROM (SELECT removed, checkpoint FROM ${schema}.request_head LIMIT 1) h
         CROSS JOIN (SELECT generation FROM ${schema}.sandbox LIMIT 1) s
         LEFT JOIN (
           SELECT * FROM ${schema}.requests WHERE number > $1 ORDER BY number LIMIT $2
         ) r ON true ORDER BY r.number`,
        [number, MOST_ROWS, instance],
      )
      const [first] = rows
      return {
        rows: rows.flatMap((row) => (row.number === null ? [] : [numbered(row)])),
        more: rows.length === MOST_ROWS,
        isLost: number < Number(first?.removed),
        lastId: first?.last ?? undefined,
        generation: Number(first?.current),
        checkpoint: Number(first?.checkpoint),
      }
    },
    async checkpoint() {
      const [row] = await run<{ number: string; generation: string; doc: string }>(
        `SELECT number, generation, doc FROM ${schema}.request_checkpoint`,
        [],
      )
      return row && { ...row, number: Number(row.number), generation: Number(row.generation) }
    },
    async keep({ number, generation, doc }) {
      const kept = transaction(async (runHere) => {
        const [head] = await runHere<{ removed: string }>(
          `UPDATE ${schema}.request_head SET removed = checkpoint, checkpoint = $1
           WHERE checkpoint < $1 RETURNING removed`,
          [number],
        )
        if (head === undefined) return
        await runHere(`DELETE FROM ${schema}.requests WHERE number <= $1`, [head.removed])
        await runHere(
          `INSERT INTO ${schema}.request_checkpoint (number, generation, doc) VALUES ($1, $2, $3)
           ON CONFLICT (one_row) DO UPDATE SET number = $1, generation = $2, doc = $3`,
          [number, generation, doc],
        )
      })
      await orUnavailable(kept)
    },
  }
}

/** A row of a page. Without entries there is one row, whose other columns are `null`. */
type PageRow = { last: string | null; removed: string; checkpoint: string; current: string } & (
  | { number: null }
  | { number: string; id: string; generation: string; sequence: string; doc: string | null }
)

function numbered({ number, id, generation, sequence, doc }: PageRow & { number: string }): NumberedRow {
  return { number: Number(number), id, generation: Number(generation), sequence: Number(sequence), doc }
}
