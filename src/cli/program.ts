/** Entry points of `bin/run.js`: the command framework, and the filter of its debug output. */
export { execute, flush, handle, run } from '@oclif/core'
export { hideSecretsInDebugOutput } from './debug-output.ts'
