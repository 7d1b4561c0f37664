import { subscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import type { PublishedAnswer } from '../../src/http/app.ts'
import { createJudge, type OpenApi } from './openapi-judge.ts'

/** Violations since the last check, by services in this process and by those that it started. */
const violations: string[] = []
let judge: ReturnType<typeof createJudge> | undefined

type Listener = (answer: PublishedAnswer, issues: readonly string[]) => void
const listeners = new Set<Listener>()

/** Tells of each answer that is judged, and of what was found; the other function ends it. */
export function onJudged(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

subscribe('tabwire:answer', (message) => consider(message as PublishedAnswer))

/** Judges what a process sends that has loaded `forward-answers.mjs`, if it is an answer. */
export function hear(message: unknown): void {
  if (typeof message === 'object' && message !== null && 'answer' in message)
    consider(message.answer as PublishedAnswer)
}

function consider(answer: PublishedAnswer): void {
  judge ??= createJudge(published())
  const issues = judge(answer)
  for (const issue of issues) violations.push(`${nameOf(answer)} ${issue}`)
  for (const listener of listeners) listener(answer, issues)
}

/** Fails the test that got an answer which is not as `fixtures/openapi.json` says. */
export function expectDocumentedAnswers(): void {
  const found = [...new Set(violations.splice(0))]
  if (found.length > 0) throw new Error(`Answers are not as the OpenAPI document says:\n${found.join('\n')}`)
}

function published(): OpenApi {
  const file = new URL('../../fixtures/openapi.json', import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')) as OpenApi
}

function nameOf({ request, status }: PublishedAnswer): string {
  return request === null ? `${status}` : `${request.method} ${request.path.slice(0, 100)} ${status}`
}
