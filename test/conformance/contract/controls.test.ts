import { describe, expect, test } from 'vitest'
import { sampled } from '../../soak/seeded.ts'
import { examine, named, type Variant } from './examine.ts'

interface Control extends Variant {
  /** The cases that the control guards, or how their names begin. */
  guards: RegExp
  /** The case that is about what the control does, if one is. */
  failed: string[]
}

/** Without what the control does, none of the cases that it guards is passed, though each would be satisfied. */
const controls: Record<string, Control> = {
  'no push is accepted': {
    changes: { invalid: () => 'closed' },
    guards:
      /^(requests|checks|conflicts|retries)\/|^access\/push_without_key$|^deliveries\/(?!ping|exact_url)/,
    failed: ['checks/accepted'],
  },
  'GET /locations is refused': {
    changes: { refusesLocations: true },
    guards: /^access\/(no_key|unknown_key|no_bearer)$/,
    failed: ['access/locations'],
  },
  'the key without write scope is refused everywhere': {
    settings: { readKey: 'stranger' },
    guards: /^access\/write_scope$/,
    failed: [],
  },
  'no endpoint can be registered': {
    changes: { takesUrl: () => false },
    settings: { receiverUrl: 'https://receiver.restaurant.example' },
    guards: /^(endpoints|deliveries|retries)\/|write_scope$/,
    failed: ['endpoints/registered'],
  },
  'no second endpoint can be registered': {
    changes: { takesUrl: () => true, maxHooks: 1 },
    guards: /^endpoints\/(https_only|url_required|url_is_a_url)$/,
    failed: [],
    groups: ['access', 'endpoints'],
  },
  'no ping is accepted': {
    changes: { takesPing: () => false },
    guards: /^endpoints\/(secret_once|unknown_endpoint)$/,
    failed: ['deliveries/ping'],
  },
  'each ping is answered with 502': {
    changes: { takesPing: () => true, pingReply: () => ({ status: 502 }) },
    guards: /^endpoints\/unknown_endpoint$/,
    failed: [],
  },
  'updates are not applied': {
    changes: { isNewer: () => false },
    settings: { orderBy: 'version' },
    guards: /^(conflicts\/|checks\/(replay|matched_by_id|in_order|order|convergence)$)/,
    failed: ['checks/full_state'],
  },
  'pushes in their order are not applied': {
    changes: { isNewer: (_before, next) => next.items.every(({ name }) => name !== 'Dish after') },
    settings: { orderBy: 'version' },
    guards: /^checks\/(order|convergence)$/,
    failed: ['checks/in_order'],
  },
  'every push after a claim is refused': {
    changes: { conflicts: ({ taken }) => taken.size > 0 },
    guards: /^conflicts\/(?!added)/,
    failed: ['conflicts/added'],
  },
  'nothing is delivered': {
    changes: { sends: () => false },
    guards: /^(deliveries|retries)\//,
    failed: ['deliveries/event', 'deliveries/ping'],
  },
  'changes are not delivered': {
    changes: { typesOf: (isNew) => (isNew ? ['check.created'] : []) },
    guards: /^deliveries\/(ids_differ|replay_is_silent|only_asked_for)$/,
    failed: [],
  },
  'nothing is retried': {
    changes: { waits: [] },
    guards: /^retries\/(last|same_body|same_id|signed|success_ends)$/,
    failed: ['retries/schedule'],
  },
}

describe.concurrent(
  'a case passes only when the same request without the mistake succeeds',
  { timeout: 180_000 },
  () => {
    test.for(sampled(Object.entries(controls), 8))(
      '%s',
      async ([, { guards, failed, ...variant }], context) => {
        const report = await examine(variant, context)
        expect(named(report, 'passed').filter((name) => guards.test(name))).toEqual([])
        expect(named(report, 'not_checked').filter((name) => guards.test(name))).not.toEqual([])
        expect(named(report, 'failed')).toEqual(expect.arrayContaining(failed))
      },
    )
  },
)
