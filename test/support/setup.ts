import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach } from 'vitest'
import './names.mjs'
import { endAll } from './at-end.ts'
import { expectDocumentedAnswers } from './judged-answers.ts'

// State folder of the tests, in place of the home of the user who runs them.
const stateHome = mkdtempSync(join(tmpdir(), 'tabwire-state-'))
process.env.XDG_STATE_HOME = stateHome

// Run for each file, whereas what files import is loaded once for many of them.
afterEach(expectDocumentedAnswers)
afterAll(async () => {
  try {
    await endAll()
  } finally {
    await rm(stateHome, { recursive: true, force: true, maxRetries: 5 })
  }
  expectDocumentedAnswers()
})
