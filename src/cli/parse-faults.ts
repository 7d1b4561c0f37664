import { didYouMeanSentence } from '../model/text/advice.ts'
import { durationMs } from '../model/text/time.ts'
import {
  apiFaultKinds,
  apiFields,
  deliveryFaultKinds,
  type ApiFaultKind,
  type DeliveryFaultKind,
} from '../model/simulator/fault-kinds.ts'
import type { Fault } from '../model/simulator/fault.ts'
import { CommandError, usageError } from './errors.ts'

/** Faults of words such as `drop=0.2`, by the fields of `/_sim/faults`. */
interface FaultWords {
  deliveries: Partial<Record<DeliveryFaultKind, number>>
  api: Partial<Record<(typeof apiFields)[ApiFaultKind], number>>
}

/**
 * Returns one fault on deliveries, one on the API, or both; none without words.
 * @throws CommandError (usage) that names the flag.
 */
export function faultsOfWords(words: readonly string[], flag: string): Fault[] {
  const { deliveries, api } = readFaultWords(words, flag)
  return [
    ...(Object.keys(deliveries).length > 0 ? [{ on: 'deliveries' as const, ...deliveries }] : []),
    ...(Object.keys(api).length > 0 ? [{ on: 'api' as const, ...api }] : []),
  ]
}

/**
 * Parses fault words; a name without a value means always. Errors of a value name the argument or flag.
 * @throws CommandError (usage) that lists the faults.
 */
export function readFaultWords(words: readonly string[], argument = 'FAULT'): FaultWords {
  const read: FaultWords = { deliveries: {}, api: {} }
  for (const word of words) {
    const [, given = '', value] = /^([^=]*)(?:=(.*))?$/s.exec(word) ?? []
    const name = given.replaceAll('-', '_')
    const delivery = deliveryFaultKinds.find((kind) => kind === name)
    const api = apiFaultKinds.find((kind) => kind === name || apiFields[kind] === name)
    if (delivery !== undefined) read.deliveries[delivery] = chance(argument, word, value)
    else if (api === 'latency') read.api.latency_ms = latency(argument, word, value)
    else if (api !== undefined) read.api[apiFields[api]] = chance(argument, word, value)
    else throw unknown(given)
  }
  return read
}

function chance(argument: string, word: string, value = '1'): number {
  const number = /^(\d+(\.\d*)?|\.\d+)$/.test(value) ? Number(value) : NaN
  if (number <= 1) return number
  throw usageError(
    `${argument} must have a probability from 0 to 1, such as drop=0.3, got ${JSON.stringify(word)}.${durationAdvice(argument, word, value)}`,
  )
}

/** Returns the flag for the duration of a fault, where it was given as the probability. `exec` has no such flags. */
function durationAdvice(argument: string, word: string, value: string): string {
  const [, name] = /^(delay|reorder)=/.exec(word) ?? []
  if (name === undefined || argument !== 'FAULT' || durationMs(value) === undefined) return ''
  return ` For the duration, pass --${name}-for ${value}.`
}

function latency(argument: string, word: string, value = ''): number {
  const ms = /^\d{1,6}$/.test(value) ? Number(value) : durationMs(value)
  if (ms !== undefined && ms >= 1 && ms <= 60_000) return ms
  throw usageError(
    `${argument} must have a duration from 1ms to 60s, such as latency=200ms, got ${JSON.stringify(word)}.`,
  )
}

function unknown(name: string): CommandError {
  const names = [...deliveryFaultKinds, ...apiFaultKinds]
  const guess = didYouMeanSentence(name, names)
  return usageError(
    `Unknown fault ${JSON.stringify(name)}.${guess} Faults on deliveries: ${deliveryFaultKinds.join(', ')}. Faults on the API: ${apiFaultKinds.join(', ')}.`,
  )
}
