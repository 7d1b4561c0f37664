/** What `bin/run.js` runs commands by: the framework that they are built with, and what keeps its debug output clean. */
export { execute, flush, handle, run } from '@oclif/core'
export { hideSecretsInDebugOutput } from './debug-output.ts'
