#!/usr/bin/env node
import module from 'node:module'

// Where Node can (from 22.1 on), compiled code is kept between runs: of what is loaded from here on.
module.enableCompileCache?.()

const { execute } = await import('../dist/cli/program.js')
await execute({ dir: import.meta.url })
