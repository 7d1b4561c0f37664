#!/usr/bin/env node
import module from 'node:module'

// Where Node can (from 22.1 on), compiled code is kept between runs: of what is loaded from here on.
module.enableCompileCache?.()

const { execute, hideSecretsInDebugOutput } = await import('../dist/cli/program.js')
hideSecretsInDebugOutput(process.argv, process.env, process.stderr)
await execute({ dir: import.meta.url })
