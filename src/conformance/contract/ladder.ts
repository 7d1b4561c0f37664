import { NotChecked } from './case.ts'
import { pushAll } from './push-and-read.ts'
import { item, push } from './pushes.ts'
import { arrived, isSuccess, type Site } from './site.ts'

/** In seconds, as the clock is moved. */
const MINUTE = 60
export const DAY = 1440 * MINUTE

/** Specification, section 6, rule 5. */
const schedule = [MINUTE, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE, 480 * MINUTE, DAY]

/** A retry counts from the end of an attempt, which takes a moment; which moment is left open. */
const SLACK = 5

/** Each another outcome that is no 2xx. */
const failures = [500, 404, 302, 410, 429, 400, 503]

/** Moves the clock of a simulator on. @throws NotChecked when that is refused. */
export async function advance({ sim }: Pick<Site, 'sim'>, seconds: number): Promise<void> {
  const answer = await sim('POST', '/clock', { json: { advance: `${seconds}s` } })
  if (!isSuccess(answer)) throw new NotChecked(`The clock could not be moved: ${answer.status}.`)
}

/** A delivery that fails to the last, with how many attempts had come shortly before and after each was due. */
export function ladder(site: Site) {
  return site.once('ladder', async () => {
    const { hook, secret } = await site.register('check.created')
    hook.answer(...failures)
    await pushAll(site, site.freshCheck(), [push([item('a', 900, { note: 'à la crème' })])])
    arrived(site, await hook.arrival(1), 'The delivery')
    const steps: { early: number; due: number }[] = []
    for (const [index, delay] of schedule.entries()) {
      // The clock stands a moment after the attempt that this retry follows, but for the first.
      await advance(site, delay - SLACK - (index === 0 ? 0 : SLACK))
      const early = hook.arrivals.length
      await advance(site, 2 * SLACK)
      steps.push({ early, due: hook.arrivals.length })
    }
    await advance(site, 3 * DAY)
    return { hook, secret, steps, final: hook.arrivals.length }
  })
}
