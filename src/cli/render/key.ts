import chalk from 'chalk'
import type { ApiKeyView } from '../../model/api-key.ts'
import { renderTable, renderFields } from './layout.ts'
import { renderer, formatTime } from './text.ts'

export const renderKeys = renderer((keys: readonly ApiKeyView[], columns?: number): string => {
  const rows = keys.map((key) => [
    key.id,
    key.name,
    key.scopes.join(' '),
    formatTime(key.created_at),
    state(key),
  ])
  return renderTable(['key', 'name', 'scopes', 'created (UTC)', 'state'], rows, 'No keys.', columns)
})

export const renderKey = renderer((key: ApiKeyView & { api_key?: string }, columns?: number): string => {
  const fields: [string, string][] = [
    ['key', key.id],
    ['name', key.name],
    ['scopes', key.scopes.join(' ')],
    ['location', key.location_id],
    ['state', state(key)],
  ]
  const secret: [string, string][] = key.api_key === undefined ? [] : [['api key', key.api_key]]
  return renderFields([...fields, ...secret], columns)
})

function state({ revoked_at }: ApiKeyView): string {
  return revoked_at === null ? chalk.green('valid') : chalk.red(`revoked ${formatTime(revoked_at)}`)
}
