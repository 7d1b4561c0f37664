import { must, NotChecked, type ContractCase } from './case.ts'
import { bodiesOf, idsOf, isGenuine, signatureOf } from './arrivals.ts'
import type { Arrival } from './hooks.ts'
import { advance, DAY, ladder } from './ladder.ts'
import { pushAll } from './push-and-read.ts'
import { item, push } from './pushes.ts'
import { arrived, type Site } from './site.ts'

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
      await advance(site, 2 * DAY)
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
