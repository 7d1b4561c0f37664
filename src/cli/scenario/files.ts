import { lstat } from 'node:fs/promises'
import { Refusal } from '../../model/refusal.ts'
import { validate, type ValidationIssue } from '../../model/validation.ts'
import { CommandError, exitCodes, usageError } from '../errors.ts'
import { inputName, readInput, withoutByteOrderMark } from '../files/input.ts'
import { checkOutput, writeOutput, writing } from '../files/output.ts'
import { referredTo, type Scenario, scenarioSchema } from './schema.ts'

/**
 * Reads a scenario.
 * @throws CommandError (usage) that names the file and, for each wrong step, its problem.
 */
export async function readScenario(file: string): Promise<Scenario> {
  const json = parse(file, (await readInput(file)).toString())
  const issues = issuesOf(json)
  if (issues.length > 0)
    throw wrong(file, issues.map((issue) => describeIssue(issue, json)).join(`\n${inputName(file)}: `))
  return validate(scenarioSchema, json)
}

function parse(file: string, text: string): unknown {
  try {
    return JSON.parse(withoutByteOrderMark(text))
  } catch (error) {
    throw wrong(file, `not valid JSON: ${(error as Error).message}.`)
  }
}

function issuesOf(json: unknown): readonly ValidationIssue[] {
  try {
    return missingSteps(validate(scenarioSchema, json))
  } catch (error) {
    if (error instanceof Refusal) return error.details.issues as ValidationIssue[]
    throw error
  }
}

/** Returns an issue for each earlier step that a step needs and that is missing. */
function missingSteps({ steps }: Scenario): ValidationIssue[] {
  const names = new Set<string>()
  const pushed = new Set<string>()
  return steps.flatMap((step, index) => {
    const unknown = referredTo({ ...step, note: null }).filter((name) => !names.has(name))
    if ('as' in step && step.as !== undefined) names.add(step.as)
    if (step.do === 'push') pushed.add(step.check)
    const issues = unknown.map((name) => `refers to $${name}, but no earlier step has "as": "${name}"`)
    if (step.do === 'close' && !pushed.has(step.check))
      issues.push(`closes ${step.check}, but no earlier step pushes it`)
    return issues.map((message) => ({ path: `steps[${index}]`, message }))
  })
}

/** Formats an issue: `step 3 (claim): items is required.` */
function describeIssue({ path, message }: ValidationIssue, json: unknown): string {
  const [, index, rest = ''] = /^steps\[(\d+)\]\.?(.*)$/.exec(path) ?? []
  const end = message.replace(/\.?$/, '.')
  if (index === undefined) return `${path === 'body' ? 'The file' : path} ${end}`
  const step = (json as { steps: ({ do?: unknown } | null)[] }).steps[Number(index)]
  const kind = typeof step?.do === 'string' ? ` (${step.do})` : ''
  return `step ${Number(index) + 1}${kind}: ${rest === '' ? '' : `${rest} `}${end}`
}

function wrong(file: string, message: string): CommandError {
  return new CommandError('invalid_scenario', `${inputName(file)}: ${message}`, exitCodes.usage)
}

const FILE = 'tabwire-counterexample'

const NAMED = { flag: '--out', content: 'scenario' }

/**
 * Returns the file to write: the named one, or a new one in the working directory.
 * @throws CommandError (usage) when the named file exists, unless it may be replaced; and when it cannot be written.
 */
export async function outputFile(named: string | undefined, force: boolean): Promise<string> {
  // No flag names the new one, so a directory that is read-only does not prevent the run.
  if (named === undefined) return force ? `${FILE}.json` : newFile()
  if (!force && (await isFile(named)))
    throw usageError(`--out: ${named} already exists. Pass --force to replace it, or another --out FILE.`)
  await writing(named, NAMED, () => checkOutput(named))
  return named
}

/** Returns the first name that no file has: with a number from 2 on, where the plain one is taken. */
async function newFile(): Promise<string> {
  for (let number = 1; ; number += 1) {
    const file = number === 1 ? `${FILE}.json` : `${FILE}-${number}.json`
    if (!(await isFile(file))) return file
  }
}

async function isFile(file: string): Promise<boolean> {
  const found = await lstat(file).catch(() => undefined)
  return found?.isFile() === true
}

/** Writes a scenario. @throws CommandError when the file cannot be written. */
export async function writeScenario(file: string, scenario: Scenario): Promise<void> {
  await writing(file, NAMED, () => writeOutput(file, `${JSON.stringify(scenario, null, 2)}\n`, 0o644))
}
