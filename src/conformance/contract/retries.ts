import { must, NotChecked, type ContractCase } from './case.ts'
import { pushAll } from './checks.ts'
import { bodiesOf, idsOf, isGenuine, signatureOf } from './deliveries.ts'
import type { Arrival } from './hooks.ts'
import { item, push } from './pushes.ts'
import { arrived, isSuccess, type Site } from './site.ts'

/** In seconds, as the clock is moved. */
const MINUTE = 60

/** Specification, section 6, rule 5. */
const schedule = [MINUTE, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE, 480 * MINUTE, 1440 * MINUTE]

/** A retry counts from the end of an attempt, which takes a moment; which moment is left open. */
const SLACK = 5

/** Each another outcome that is no 2xx. */
const failures = [500, 404, 302, 410, 429, 400, 503]

async function advance({ sim }: Pick<Site, 'sim'>, seconds: number): Promise<void> {
  const answer = await sim('POST', '/clock', { json: { advance: `${seconds}s` } })
  if (!isSuccess(answer)) throw new NotChecked(`The clock could not be moved: ${answer.status}.`)
}

/** A delivery that fails to the last, with how many attempts had come shortly before and after each was due. */
function ladder(site: Site) {
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
    await advance(site, 3 * 1440 * MINUTE)
    return { hook, secret, steps, final: hook.arrivals.length }
  })
}

const SCHEDULE = 'section 6, rule 5: 1 minute, 5 minutes, 30 minutes, 2 hours, 8 hours, 24 hours'

const one = (
  id: string,
  title: string,
  section: string,
  check: (site: Site) => Promise<void>,
): ContractCase => ({
  group: 'retries',
  id,
  title,
  section,
  needs: ['clock'],
  check,
})

/** Specification, section 6, rules 2, 4 and 5. They take 35 hours, so they are checked where the clock can be moved. */
export const retries: readonly ContractCase[] = [
  one('schedule', 'a failed delivery is tried again on the schedule', SCHEDULE, async (site) => {
    const { steps } = await ladder(site)
    const wrong = steps.findIndex(({ early, due }, index) => early !== index + 1 || due !== index + 2)
    const step = steps[wrong]
    must(
      step === undefined,
      `Before retry ${wrong + 1} was due there had been ${step?.early} attempts, after it ${step?.due}.`,
    )
  }),
  one(
    'last',
    'after the last retry nothing more is sent',
    'section 6, rule 5: then the delivery is marked dead',
    async (site) => {
      const { steps, final } = await ladder(site)
      const until = steps.at(-1)?.due ?? 0
      must(final <= until, `${final - until} more came in the three days after.`)
    },
  ),
  one(
    'same_body',
    'every attempt has the same bytes',
    'section 6, rule 2: receivers deduplicate on the envelope id',
    async (site) => {
      const { hook } = await ladder(site)
      must(bodiesOf(hook).size <= 1 || idsOf(hook).size > 1, 'The body of a retry has other bytes.')
    },
  ),
  one(
    'same_id',
    'every attempt has the same event id',
    'section 6, rule 2: receivers deduplicate on the envelope id',
    async (site) => {
      must(idsOf((await ladder(site)).hook).size <= 1, 'A retry has another event id.')
    },
  ),
  one(
    'signed',
    'every attempt is signed, for its own time',
    'section 5: every delivery carries the signature',
    async (site) => {
      const { hook, secret } = await ladder(site)
      const unsigned = hook.arrivals.slice(1).findIndex((arrival) => !isGenuine(site, arrival, secret))
      must(unsigned < 0, `The signature of retry ${unsigned + 1} does not match.`)
      const stale = hook.arrivals.findIndex((arrival) => Date.now() / 1000 - seconds(site, arrival) > 300)
      must(stale < 0, `The t of attempt ${stale + 1} is out of the tolerance.`)
    },
  ),
  one(
    'success_ends',
    'a retry that is answered 2xx is the last',
    'section 6, rule 4: any other outcome triggers a retry',
    async (site) => {
      const { hook } = await site.register('check.created')
      hook.answer(500, 204)
      await pushAll(site, site.freshCheck(), [push([item('a')])])
      arrived(site, await hook.arrival(1), 'The delivery')
      await advance(site, 2 * 1440 * MINUTE)
      must(hook.arrivals.length <= 2, `After a 2xx, ${hook.arrivals.length - 2} more came.`)
    },
  ),
  {
    group: 'retries',
    id: 'slow_answer',
    title: 'an answer after 10 seconds counts as a failure',
    section: 'section 6, rule 4: within 10 seconds',
    check: () =>
      Promise.reject(new NotChecked('It takes longer than ten seconds, which this check does not.')),
  },
  {
    group: 'retries',
    id: 'disabling',
    title: 'an endpoint that fails many deliveries in a row is disabled',
    section: 'section 6, rule 6; how many are not shown',
    check: () => Promise.reject(new NotChecked('How many failures are many is not shown.')),
  },
]

/** `t`, in whichever unit it is: that of the first attempt is judged elsewhere. */
function seconds(site: Site, arrival: Arrival): number {
  return Number(signatureOf(site, arrival).t)
}
