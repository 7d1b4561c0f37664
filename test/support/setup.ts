import { afterAll, afterEach } from 'vitest'
import { endAll } from './at-end.ts'
import { expectDocumentedAnswers } from './judged-answers.ts'

// Run for each file, whereas what files import is loaded once for many of them.
afterEach(expectDocumentedAnswers)
afterAll(async () => {
  await endAll()
  expectDocumentedAnswers()
})
