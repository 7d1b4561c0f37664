import { suggestion } from '../suggestion.ts'
import type { EventType } from '../../model/event.ts'
import type { EventView } from '../../model/event-view.ts'
import { CommandError, usageError } from '../errors.ts'
import { recipes, type StepName, steps, type Scene } from './steps.ts'

/** A step that was taken, and what the service answered. */
export interface Deed {
  step: StepName
  resource: Awaited<ReturnType<(typeof steps)[StepName]['act']>>
}

/** What was done for an event, and the event. */
export interface Triggered {
  external_check_id: string
  steps: readonly Deed[]
  event: EventView
}

/**
 * Takes the steps that lead to an event. @throws CommandError when the check is such that they do not, or (usage) when
 * `overrides` are there for a push and none is made; ApiError for what the service refuses.
 */
export async function trigger(type: EventType, scene: Scene, hasOverrides: boolean): Promise<Triggered> {
  const plan = await planOf(recipes[type], scene)
  if (hasOverrides && !plan.some((name) => steps[name].pushes)) throw nothingPushed(type, scene)
  const before = (await newest(type, scene))?.id
  const deeds: Deed[] = []
  for (const step of plan) deeds.push({ step, resource: await steps[step].act(scene) })
  const event = await newest(type, scene)
  if (event === undefined || event.id === before) throw gaveNone(type, scene, plan)
  return { external_check_id: scene.check, steps: deeds, event }
}

/** Those before the last only where they are needed. */
async function planOf(recipe: readonly StepName[], scene: Scene): Promise<StepName[]> {
  const plan: StepName[] = []
  for (const [index, name] of recipe.entries())
    if (index === recipe.length - 1 || !(await steps[name].isDone?.(scene))) plan.push(name)
  if (recipe.length === 1 && (await steps.push.isDone?.(scene)))
    throw new CommandError(
      'cannot_trigger',
      `Check ${scene.check} is there already, so it is not created again. Leave --check out for a check of its own.`,
    )
  return plan
}

async function newest(type: EventType, { client, check }: Scene): Promise<EventView | undefined> {
  const { data } = await client.events.list({ type, external_check_id: check, limit: 1 })
  return data[0]
}

function nothingPushed(type: EventType, { check }: Scene): CommandError {
  return usageError(
    `--override changes what is pushed, and ${type} on check ${check}, which is there, needs no push. Push first, or leave --check out.`,
  )
}

function gaveNone(type: EventType, { check }: Scene, plan: readonly StepName[]): CommandError {
  return new CommandError(
    'no_event',
    `These steps on check ${check} gave no ${type}: ${plan.join(', ')}. ${suggestion('checks show', [check])} tells how it is.`,
  )
}
