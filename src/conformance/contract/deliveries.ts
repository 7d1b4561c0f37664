import { isDeepStrictEqual } from 'node:util'
import { field } from './ask.ts'
import { bodiesOf, bodyOf, idsOf, isGenuine, signatureOf } from './arrivals.ts'
import { must, NotChecked, type ContractCase } from './case.ts'
import type { Hook } from './hooks.ts'
import { pushAll, readable } from './push-and-read.ts'
import { item, push } from './pushes.ts'
import { arrived, type Site } from './site.ts'

/** A check that was pushed, pushed again the same, and changed, with what two endpoints were told of it; done once. */
function told(site: Site) {
  return site.once('told', async () => {
    const all = await site.register('check.created', 'check.updated')
    const other = await site.register('check.closed')
    const path = site.freshCheck()
    await pushAll(site, path, [push([item('a')])])
    const created = arrived(site, await all.hook.arrival(1), 'The delivery of check.created')
    const after = await readable(site, path).catch(() => undefined)
    await pushAll(site, path, [push([item('a')]), push([item('a'), item('b')])])
    await distinct(all.hook, 2)
    return { ...all, other, created, after }
  })
}

/** Waits for so many different bodies: a delivery may come more than once, so arrivals alone tell nothing. */
async function distinct(hook: Hook, wanted: number): Promise<void> {
  while (bodiesOf(hook).size < wanted)
    if ((await hook.arrival(hook.arrivals.length + 1)) === undefined) return
}

const one = (
  id: string,
  title: string,
  section: string,
  check: (site: Site) => Promise<void>,
): ContractCase => ({
  group: 'deliveries',
  id,
  title,
  section,
  check,
})

/** Specification, sections 2, 5 and 6: what is delivered, to whom, and how it is signed. */
export const deliveries: readonly ContractCase[] = [
  one('ping', 'a ping arrives, signed', 'section 4: sends a signed ping to that endpoint', async (site) => {
    const { id, hook, secret } = await site.register('check.created')
    await site.ask('POST', `/webhook-endpoints/${encodeURIComponent(id)}/test`)
    const ping = arrived(site, await hook.arrival(1), 'The ping')
    must(signatureOf(site, ping).header !== '', `The ping has no X-${site.serviceName}-Signature.`)
    must(secret === '' || isGenuine(site, ping, secret), 'The signature of the ping does not match.')
  }),
  one(
    'post',
    'an event arrives as a POST',
    'section 6, rule 1: each delivery is an HTTP POST',
    async (site) => {
      const { created } = await told(site)
      must(created.method === 'POST', `It came as ${created.method}.`)
    },
  ),
  one('envelope', 'the body is the envelope', 'section 2: id, type, created_at, data', async (site) => {
    const json = bodyOf((await told(site)).created)
    const missing = ['id', 'type', 'created_at', 'data'].filter((name) => field(json, name) === undefined)
    must(missing.length === 0, `The body lacks ${missing.join(', ')}.`)
  }),
  one('type', 'the first push of a check is a check.created', 'section 6: event types', async (site) => {
    const type = field(bodyOf((await told(site)).created), 'type')
    must(type === 'check.created', `The type is ${JSON.stringify(type)}.`)
  }),
  one('created_at', 'created_at is an ISO 8601 time in UTC', 'section 2: created_at', async (site) => {
    const time = field(bodyOf((await told(site)).created), 'created_at')
    const iso = typeof time === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(time)
    must(iso, `created_at is ${JSON.stringify(time)}.`)
  }),
  one(
    'data',
    'data is what GET of the check answers',
    'section 2: identical to what the matching GET returns',
    async (site) => {
      const { created, after } = await told(site)
      if (after === undefined) throw new NotChecked('The check could not be read with GET.')
      const same = isDeepStrictEqual(field(bodyOf(created), 'data'), after)
      must(same, 'data is not what GET answered after the push.')
    },
  ),
  one('ids_differ', 'two events have two ids', 'section 2: unique event identifier', async (site) => {
    const { hook } = await told(site)
    must(idsOf(hook).size >= bodiesOf(hook).size, 'Two events have the same id.')
  }),
  one(
    'replay_is_silent',
    'a replay makes no event',
    'section 4, rule 1: replaying has no effect',
    async (site) => {
      const { hook } = await told(site)
      must(
        hook.arrivals.length <= 2,
        `A push, its replay and a change made ${hook.arrivals.length} deliveries.`,
      )
    },
  ),
  one('change_is_told', 'a change is delivered', 'section 6: check.updated', async (site) => {
    const { hook } = await told(site)
    must(bodiesOf(hook).size >= 2, 'The delivery of the change has not arrived.')
  }),
  one(
    'only_asked_for',
    'only the event types asked for arrive',
    "section 6, rule 7: only an endpoint's event_types",
    async (site) => {
      const { other } = await told(site)
      must(other.hook.arrivals.length === 0, 'An endpoint for check.closed got another event.')
    },
  ),
  one(
    'signature_form',
    'the signature has its form',
    'section 5: t=<unix_seconds>,v1=<hex_hmac_sha256>',
    async (site) => {
      const { header } = signatureOf(site, (await told(site)).created)
      must(
        /^t=\d+,v1=[0-9a-f]{64}$/.test(header),
        `X-${site.serviceName}-Signature is ${JSON.stringify(header)}.`,
      )
    },
  ),
  one(
    'signature_match',
    'the signature is that of t and the raw body',
    'section 5: HMAC-SHA256 of t, a period, the raw body',
    async (site) => {
      const { created, secret } = await told(site)
      must(isGenuine(site, created, secret), 'The signature does not match with the secret of the endpoint.')
    },
  ),
  one(
    'signature_time',
    't is the present time in seconds',
    'section 5: t, within the tolerance of 300 seconds',
    async (site) => {
      const { t } = signatureOf(site, (await told(site)).created)
      must(Math.abs(Number(t) - Date.now() / 1000) <= 300, `t is ${t === '' ? 'missing' : t}.`)
    },
  ),
]
