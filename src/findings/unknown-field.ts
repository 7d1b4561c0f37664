import { unknownFields } from '../model/check.ts'
import { some, type PushSeen } from './finding.ts'

/** Finds fields that a check does not have: often misspelt ones, whose values the sender believes to be stored. */
export function unknownField({ body, orderBy }: Pick<PushSeen, 'body' | 'orderBy'>): string | undefined {
  const paths = unknownFields(body, orderBy)
  if (paths.length === 0) return undefined
  return `Not a field of a check, and ignored: ${some(paths, 5)}. If it was meant to be one, correct its name; else leave it out, since a strict service refuses it.`
}
