import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach } from 'vitest'
import './names.mjs'
import { endAll } from './at-end.ts'
import { expectDocumentedAnswers } from './judged-answers.ts'

// State folder of the tests, in place of the home of the user who runs them. One for all files of a process: the processes
// that run commands outlive a file.
const stateHome = join(tmpdir(), `tabwire-state-${process.pid}`)
process.env.XDG_STATE_HOME = stateHome
// Some CI sets it. Tests compare texts without colours.
delete process.env.FORCE_COLOR

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
