import { must, NotChecked, type ContractCase } from './case.ts'
import { isSuccess } from './site.ts'

const group = 'endpoints'

/** Specification, sections 2 and 4: the registration of webhook endpoints. */
export const endpoints: readonly ContractCase[] = [
  {
    group,
    id: 'https_only',
    title: 'an endpoint without HTTPS is refused',
    section: 'section 2: url must be an HTTPS URL',
    async check({ ask }) {
      const json = { url: 'http://example.com/webhooks', event_types: ['check.created'] }
      const { status } = await ask('POST', '/webhook-endpoints', { json })
      must(status >= 400 && status < 500, `Registering ${json.url} was answered ${status}.`)
    },
  },
  {
    group,
    id: 'secret_shown',
    title: 'registration shows a signing secret that begins with whsec_',
    section: 'section 2: the signing secret begins with whsec_',
    async check(site) {
      const { secret } = await site.once('subscriber', () => site.register('check.created'))
      must(secret !== '', 'The answer holds no text that begins with whsec_.')
    },
  },
  {
    group,
    id: 'secret_once',
    title: 'the secret is never shown again',
    section: 'section 2: returned only in the response to registration, never again',
    async check(site) {
      const { id, secret } = await site.once('subscriber', () => site.register('check.created'))
      if (secret === '') throw new NotChecked('No secret was shown in the first place.')
      const one = `/webhook-endpoints/${encodeURIComponent(id)}`
      const answers = [
        await site.ask('GET', one),
        await site.ask('GET', '/webhook-endpoints'),
        await site.ask('POST', `${one}/test`),
      ]
      const shown = answers.some(({ text }) => text.includes(secret))
      must(!shown, 'Another answer shows the signing secret.')
    },
  },
  {
    group,
    id: 'unknown_endpoint',
    title: 'a ping to an endpoint that is not registered is refused',
    section: 'section 4: id identifies a registered endpoint',
    async check({ ask }) {
      const answer = await ask('POST', '/webhook-endpoints/no-such-endpoint/test')
      must(!isSuccess(answer), `It was answered ${answer.status}.`)
    },
  },
  {
    group,
    id: 'unknown_event_type',
    title: 'registering for an event type that is not listed',
    section: 'section 2: event types are chosen from section 6; what else becomes of others is not shown',
    async observe({ ask, hooks }) {
      const json = { url: hooks.open().url, event_types: ['check.flambeed'] }
      return `answered ${(await ask('POST', '/webhook-endpoints', { json })).status}`
    },
  },
]
