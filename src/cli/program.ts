/** What `bin/run.js` runs commands by: the framework that they are built with. */
export { execute, flush, handle, run } from '@oclif/core'
