import { afterAll } from 'vitest'
import { endAll } from './at-end.ts'

// Run for each file, whereas what files import is loaded once for many of them.
afterAll(endAll)
