#!/usr/bin/env node
import { writeSync } from 'node:fs'
import module from 'node:module'
import { homedir } from 'node:os'
import { isAbsolute } from 'node:path'

// Keeps the compiled code of later imports between runs; needs Node 22.1.
module.enableCompileCache?.()

// A user who is not in the list of users and has no HOME, as in some containers, has no home directory to look up. An
// empty HOME would be the working directory.
try {
  if (!isAbsolute(homedir())) process.env.HOME = '/'
} catch {
  process.env.HOME = '/'
}

// The launcher of the macOS download hides it from its own Node.js.
const { TABWIRE_NODE_OPTIONS: nodeOptions } = process.env
if (nodeOptions !== undefined) process.env.NODE_OPTIONS = nodeOptions
delete process.env.TABWIRE_NODE_OPTIONS

const { execute, hideSecretsInDebugOutput, reportLostOutput } = await import('../dist/cli/program.js')
hideSecretsInDebugOutput(process.argv, process.env, process.stderr)
reportLostOutput(process.stdout, (text) => writeSync(2, text))
await execute({ dir: import.meta.url })
