import { suggestion } from '../suggestion.ts'
import type { EventType } from '../../model/event.ts'
import type { EventView } from '../../model/event-view.ts'
import { CommandError, usageError } from '../errors.ts'
import { recipes, type StepName, steps, type TriggerContext } from './steps.ts'

/** A step that was taken, and the service's answer. */
export interface TakenStep {
  step: StepName
  resource: Awaited<ReturnType<(typeof steps)[StepName]['act']>>
}

/** The steps that were taken for an event, and the event. */
export interface Triggered {
  external_check_id: string
  steps: readonly TakenStep[]
  event: EventView
}

/**
 * Takes the steps that lead to an event.
 * @throws CommandError when the check cannot have the event, or (usage) when `overrides` are given and no step
 * pushes; ApiError for a refusal by the service.
 */
export async function trigger(
  type: EventType,
  context: TriggerContext,
  hasOverrides: boolean,
): Promise<Triggered> {
  const plan = await planOf(recipes[type], context)
  if (hasOverrides && !plan.some((name) => steps[name].pushes)) throw nothingPushed(type, context)
  const before = (await newest(type, context))?.id
  const taken: TakenStep[] = []
  for (const step of plan) taken.push({ step, resource: await steps[step].act(context) })
  const event = await newest(type, context)
  if (event === undefined || event.id === before) throw gaveNone(type, context, plan)
  return { external_check_id: context.check, steps: taken, event }
}

/** Returns the steps to take: the last one, and those before it whose result is missing. */
async function planOf(recipe: readonly StepName[], context: TriggerContext): Promise<StepName[]> {
  const plan: StepName[] = []
  for (const [index, name] of recipe.entries())
    if (index === recipe.length - 1 || !(await steps[name].isDone?.(context))) plan.push(name)
  if (recipe.length === 1 && (await steps.push.isDone?.(context)))
    throw new CommandError(
      'cannot_trigger',
      `Check ${context.check} already exists, so it cannot be created again. Omit --check to use a new check.`,
    )
  return plan
}

async function newest(type: EventType, { client, check }: TriggerContext): Promise<EventView | undefined> {
  const { data } = await client.events.list({ type, external_check_id: check, limit: 1 })
  return data[0]
}

function nothingPushed(type: EventType, { check }: TriggerContext): CommandError {
  return usageError(
    `--override changes a pushed body, but ${type} on the existing check ${check} needs no push. Omit --check to use a new check.`,
  )
}

function gaveNone(type: EventType, { check }: TriggerContext, plan: readonly StepName[]): CommandError {
  return new CommandError(
    'no_event',
    `The steps on check ${check} caused no ${type}: ${plan.join(', ')}. To see its state, run: ${suggestion('checks show', [check])}`,
  )
}
