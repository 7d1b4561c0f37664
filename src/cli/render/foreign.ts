import { isObject } from '../../model/validation.ts'
import { renderTable, renderFields } from './layout.ts'
import { renderer } from './text.ts'

/** Columns of a table whose records have fields of another service's choice. */
const MOST_COLUMNS = 6

/**
 * Renders a response whose fields the specification does not name: a list as a table of its records' plain fields, a record
 * by its plain fields, anything else as JSON.
 */
export const renderForeign = renderer((json: unknown, columns: number | undefined = Infinity): string => {
  const records = recordsIn(json)
  if (records !== undefined) {
    const names = [...new Set(records.flatMap((record) => Object.keys(plain(record))))].slice(0, MOST_COLUMNS)
    const rows = records.map((record) => names.map((name) => String(plain(record)[name] ?? '')))
    return renderTable(names, rows, 'The list is empty.', columns)
  }
  const fields = isObject(json) ? Object.entries(plain(json)) : []
  return fields.length > 0
    ? renderFields(
        fields.map(([name, value]) => [name, String(value)]),
        columns,
      )
    : JSON.stringify(json, null, 2)
})

/** Returns true when a value has all of these fields, as the records of a Tabwire service have. */
export function hasFields(value: unknown, ...fields: readonly string[]): boolean {
  return isObject(value) && fields.every((field) => value[field] !== undefined)
}

/** Returns the records of a list: the value itself, or the first list of objects in it; `undefined` without one. */
function recordsIn(json: unknown): Record<string, unknown>[] | undefined {
  return [json, ...(isObject(json) ? Object.values(json) : [])].find(isRecords)
}

function isRecords(value: unknown): value is Record<string, unknown>[] {
  return Array.isArray(value) && value.every(isObject)
}

function plain(record: Record<string, unknown>): Record<string, string | number | boolean> {
  return Object.fromEntries(
    Object.entries(record).filter((entry): entry is [string, string | number | boolean] =>
      ['string', 'number', 'boolean'].includes(typeof entry[1]),
    ),
  )
}
