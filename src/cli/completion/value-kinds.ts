import { apiFaultKinds, deliveryFaultKinds } from '../../model/simulator/fault-kinds.ts'
import { eventTypes } from '../../model/event.ts'
import { findingCodes } from '../../model/simulator/report.ts'
import { scopes } from '../../model/api-key.ts'

/** What a flag or an argument takes that its command does not list: words, files, or names that must be looked up. */
export type ValueKind = { words: readonly string[] } | 'file' | LookedUp
export type LookedUp =
  | 'check'
  | 'claim'
  | 'delivery'
  | 'endpoint'
  | 'event'
  | 'key'
  | 'payment'
  | 'scenario'
  | 'state'

const ofFlags: Readonly<Record<string, ValueKind>> = {
  body: 'file',
  cacert: 'file',
  check: 'check',
  config: 'file',
  'data-dir': 'file',
  delivery: 'delivery',
  endpoint: 'endpoint',
  'env-file': 'file',
  events: { words: ['all', ...eventTypes] },
  'fail-on': { words: ['any', 'none', ...findingCodes] },
  file: 'file',
  junit: 'file',
  many: 'file',
  out: 'file',
  request: 'file',
  scopes: { words: scopes },
  'secret-file': 'file',
  'api-key-file': 'file',
  'read-key-file': 'file',
}

const ofArguments: Readonly<Record<string, ValueKind>> = {
  check: 'check',
  claim: 'claim',
  delivery: 'delivery',
  endpoint: 'endpoint',
  event: 'event',
  fault: { words: [...deliveryFaultKinds, ...apiFaultKinds] },
  file: 'file',
  key: 'key',
  payment: 'payment',
  scenario: 'scenario',
}

/** `undefined` for what nobody but the user knows: numbers, names, addresses. */
export function kindOf(command: string, name: string, place: 'flag' | 'argument'): ValueKind | undefined {
  if (command.startsWith('state:') && name === 'name') return 'state'
  return (place === 'flag' ? ofFlags : ofArguments)[name]
}
