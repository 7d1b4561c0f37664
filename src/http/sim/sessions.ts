import type { ApiKey } from '../../model/api-key.ts'
import { Refusal } from '../../model/refusal.ts'
import { sessionCodeBody } from '../../model/simulator/bodies.ts'
import type { Bundle } from '../../model/simulator/bundle.ts'
import type { Service } from '../../service.ts'
import { keyOfHash } from '../auth/api-key.ts'
import {
  isOwnPage,
  notOwnPage,
  keyOfSession,
  sessionCookie,
  sessionSecrets,
  CODE_SECONDS,
  type Sessions,
} from '../auth/sessions.ts'
import { created, ok, withBody, type Call, type Documented, type Reply } from '../route.ts'

export interface SessionRouteParts {
  service: Pick<Service, 'get' | 'find'>
  sessions: Sessions
  /** URL of the service for browsers. */
  url: () => string
  /** Names the signature header. */
  serviceName: string
  /** The recording that this service replays. */
  replay: Recording | undefined
}

/** Time and versions of a recorded bundle. */
type Recording = Pick<Bundle, 'recorded_at' | 'tabwire' | 'node'>

/** Routes of inspector sessions, which start with a link created with an API key. */
export function sessionRoutes(parts: SessionRouteParts): Documented[] {
  const { sessions } = parts
  return [
    {
      method: 'POST',
      path: '/inspector-links',
      scope: 'simulate',
      keyOnly: true,
      doc: {
        id: 'createInspectorLink',
        tag: 'Simulator inspector',
        summary: 'Create an inspector link',
        description: 'Creates a code that opens the inspector once, at `/#link=<code>` of the service.',
        answers: { 201: { description: 'The code, valid once.', schema: 'InspectorLink' } },
      },
      // Only the code, because the caller knows the URL of the service.
      async handle({ key }) {
        const { code, stored } = sessions.invite(key.hash)
        await stored
        return created({ code, expires_in_seconds: CODE_SECONDS })
      },
    },
    {
      method: 'POST',
      path: '/session',
      scope: null,
      ...withBody(sessionCodeBody, ({ code }, call) => begin(parts, call, code)),
      doc: {
        id: 'createSession',
        tag: 'Simulator inspector',
        internal: true,
        summary: 'Start a session',
        description:
          'Exchanges the code of a link for a cookie and a secret, which the page then sends as `X-Tabwire-Page`. A session can call everything under `/_sim` except keys and the whole state.',
        answers: {
          201: { description: 'The session has started.', schema: 'NewSession', headers: ['Set-Cookie'] },
        },
        errors: ['Unauthorized'],
      },
    },
    {
      method: 'GET',
      path: '/session',
      scope: null,
      doc: {
        id: 'getSession',
        tag: 'Simulator inspector',
        internal: true,
        summary: 'Retrieve the session',
        answers: { 200: { description: 'The session, or `null`.', schema: 'Session' } },
      },
      handle: (call) => show(parts, call),
    },
    {
      method: 'DELETE',
      path: '/session',
      scope: 'simulate',
      doc: {
        id: 'deleteSession',
        tag: 'Simulator inspector',
        internal: true,
        summary: 'End the session',
        answers: { 204: { description: 'The session has ended.', headers: ['Set-Cookie'] } },
      },
      handle: (call) => end(parts, call),
    },
  ]
}

async function begin(parts: SessionRouteParts, { request }: Call, code: string): Promise<Reply> {
  const { service, sessions, url } = parts
  if (!isOwnPage(request))
    throw notOwnPage(request, 'A session can only be started by a page of this service.')
  const secrets = await sessions.begin(code)
  if (secrets === undefined)
    throw new Refusal(
      'unauthorized',
      'This link was already used or has expired. Run tabwire open for a new link.',
    )
  const cookie = sessionCookie(request.headers, secrets.token, url().startsWith('https:'))
  const key = await keyOfHash(service, (await sessions.keyHashOf(secrets)) ?? '')
  const body = JSON.stringify({ page_secret: secrets.pageSecret, ...(await sessionOf(parts, key)) })
  return { status: 201, headers: { 'set-cookie': cookie, 'cache-control': 'no-store' }, body }
}

async function show(parts: SessionRouteParts, { request }: Call): Promise<Reply> {
  return ok(await sessionOf(parts, await keyOfSession(parts.service, parts.sessions, request)))
}

/** Returns the service data that the page needs; `session` is `null` without a key. */
async function sessionOf({ service, serviceName, replay }: SessionRouteParts, key: ApiKey | undefined) {
  if (key === undefined) return { session: null }
  const location = await service.get('locations', key.location_id)
  const recording = replay === undefined ? {} : { replay }
  return { session: { service_name: serviceName, location: location ?? null, ...recording } }
}

async function end({ sessions, url }: SessionRouteParts, { request }: Call): Promise<Reply> {
  await sessions.end(sessionSecrets(request.headers))
  const cookie = sessionCookie(request.headers, undefined, url().startsWith('https:'))
  return { status: 204, headers: { 'set-cookie': cookie }, body: null }
}
