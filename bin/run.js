#!/usr/bin/env node
import { writeSync } from 'node:fs'
import module from 'node:module'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

// The program imports functions that older versions lack, so it could not say this (package.json, engines).
const { node: version } = process.versions
const [major, minor] = version.split('.').map(Number)
if (major < 20 || major === 21 || (major === 20 && minor < 19) || (major === 22 && minor < 2)) {
  const message = `Node.js ${version} is too old. Tabwire needs 20.19, 22.2 or newer. Install a newer version: https://nodejs.org/en/download`
  if (process.argv.includes('--json'))
    writeSync(1, `${JSON.stringify({ error: { code: 'unsupported_node', message } })}\n`)
  else writeSync(2, `Error: ${message}\n`)
  process.exit(1)
}

// A user who is not in the list of users and has no HOME, as in some containers, has no home directory to look up. An
// empty HOME would be the working directory.
try {
  if (!isAbsolute(homedir())) process.env.HOME = '/'
} catch {
  process.env.HOME = '/'
}

// Keeps the compiled code of later imports between runs; needs Node 22.1. Node's own folder is in /tmp, where another user
// could create it first and put code into it. On Windows and macOS, the temporary folder is the user's own.
const { XDG_CACHE_HOME: caches = '' } = process.env
const cache = join(isAbsolute(caches) ? caches : join(homedir(), '.cache'), 'tabwire')
module.enableCompileCache?.(process.platform === 'linux' ? cache : undefined)

// The launcher of the macOS download hides it from its own Node.js.
const { TABWIRE_NODE_OPTIONS: nodeOptions } = process.env
if (nodeOptions !== undefined) process.env.NODE_OPTIONS = nodeOptions
delete process.env.TABWIRE_NODE_OPTIONS

const { endWithTerminal, execute, hideSecretsInDebugOutput, reportLostOutput } =
  await import('../dist/cli/program.js')
hideSecretsInDebugOutput(process.argv, process.env, process.stderr)
reportLostOutput(process.stdout, (text) => writeSync(2, text))
endWithTerminal(process)
await execute({ dir: import.meta.url })
