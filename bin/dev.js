#!/usr/bin/env node
import { execFileSync } from 'node:child_process'
import { execute } from '@oclif/core'

// Builds what has changed, then runs it: the sources are never run in another way than users run them.
execFileSync('npm', ['run', '--silent', 'compile'], { cwd: new URL('..', import.meta.url), stdio: 'inherit' })
await execute({ dir: import.meta.url })
