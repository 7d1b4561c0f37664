import chalk from 'chalk'
import type { ApiKeyView } from '../../model/api-key.ts'
import { renderTable } from './layout.ts'
import { renderFields, renderer, formatTime } from './text.ts'

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

export const renderKey = renderer((key: ApiKeyView): string => {
  return renderFields([
    ['key', key.id],
    ['name', key.name],
    ['scopes', key.scopes.join(' ')],
    ['location', key.location_id],
    ['state', state(key)],
  ])
})

function state({ revoked_at }: ApiKeyView): string {
  return revoked_at === null ? chalk.green('valid') : chalk.red(`revoked ${formatTime(revoked_at)}`)
}
