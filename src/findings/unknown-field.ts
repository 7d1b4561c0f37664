import { unknownFields } from '../model/check.ts'
import { some, type PushSeen } from './finding.ts'

/** Finds fields that a check does not have: often misspelt ones, whose values the sender believes to be stored. */
export function unknownField({ body, orderBy }: Pick<PushSeen, 'body' | 'orderBy'>): string | undefined {
  const paths = unknownFields(body, orderBy)
  if (paths.length === 0) return undefined
  return `Unknown fields of a check were ignored: ${some(paths, 5)}. Correct misspelled names and remove other fields: a service in strict mode refuses them.`
}
