#!/usr/bin/env node
import { writeSync } from 'node:fs'
import module from 'node:module'
import { homedir } from 'node:os'

// Keeps the compiled code of later imports between runs; needs Node 22.1.
module.enableCompileCache?.()

// A user who is not in the list of users and has no HOME, as in some containers, has no home directory to look up.
try {
  homedir()
} catch {
  process.env.HOME = '/'
}

const { execute, hideSecretsInDebugOutput, reportLostOutput } = await import('../dist/cli/program.js')
hideSecretsInDebugOutput(process.argv, process.env, process.stderr)
reportLostOutput(process.stdout, (text) => writeSync(2, text))
await execute({ dir: import.meta.url })
