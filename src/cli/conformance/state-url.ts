import type { CheckIds } from '../../conformance/receiver/convergence/scenario.ts'
import type { StateCheck } from '../../conformance/receiver/convergence/judge.ts'
import { usageError } from '../errors.ts'
import { listed } from '../flags.ts'
import { parseHeader } from '../listen/target.ts'
import { receiverUrl } from './receiver-url.ts'

interface Asked {
  'state-url': string | undefined
  'state-header': string[] | undefined
  seed: number
}

/**
 * Where and how to read the receiver's state, or `undefined` without `--state-url`. In the URL, `{external_check_id}` and
 * `{check_id}` stand for the identifiers of a check.
 * @throws CommandError (usage) for another placeholder, a URL that `receiver check` would not take, and a malformed header.
 */
export function stateCheck(asked: Asked, trust: Pick<StateCheck, 'ca' | 'insecure'>): StateCheck | undefined {
  const { 'state-url': text, 'state-header': lines, seed } = asked
  const headers = listed(lines ?? []).map((line) => parseHeader(line, '--state-header'))
  return text === undefined ? undefined : { ...stateUrl(text), ...trust, headers, seed }
}

/** Also as shells and URL libraries encode the braces. */
const PLACEHOLDER = /(?:\{|%7B)(\w*)(?:\}|%7D)/gi

function stateUrl(text: string): Pick<StateCheck, 'urlOf' | 'isPerCheck'> {
  const names = [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name)
  const unknown = names.find((name) => name !== 'external_check_id' && name !== 'check_id')
  if (unknown !== undefined)
    throw usageError(
      `--state-url has the unknown placeholder {${unknown}}. Use {external_check_id} or {check_id}.`,
    )
  const urlOf = (ids: CheckIds) =>
    receiverUrl(text.replace(PLACEHOLDER, (_whole, name: keyof CheckIds) => encodeURIComponent(ids[name])))
  urlOf({ check_id: 'a', external_check_id: 'a' })
  return { urlOf, isPerCheck: names.length > 0 }
}
