#!/usr/bin/env node
import { writeSync } from 'node:fs'
import module from 'node:module'

// Where Node can (from 22.1 on), compiled code is kept between runs: of what is loaded from here on.
module.enableCompileCache?.()

const { execute, hideSecretsInDebugOutput, reportLostOutput } = await import('../dist/cli/program.js')
hideSecretsInDebugOutput(process.argv, process.env, process.stderr)
reportLostOutput(process.stdout, (text) => writeSync(2, text))
await execute({ dir: import.meta.url })
