import { createNewId } from '../../ids.ts'

/** A name that no check has yet, and that sorts by time: `trigger-01k9…`. */
export function uniqueName(of: string): string {
  const [, unique = ''] = createNewId(() => new Date())('chk').split('_')
  return `${of}-${unique.toLowerCase()}`
}
