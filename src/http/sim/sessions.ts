import { Refusal } from '../../model/refusal.ts'
import { sessionCodeBody } from '../../model/simulator/bodies.ts'
import type { Service } from '../../service.ts'
import {
  isOwnPage,
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
  /** The URL of the service as a browser can open it. */
  url: () => string
  /** Names the signature header. */
  serviceName: string
}

/** Routes that give the inspector's page a session, by a link that a caller with an API key makes. */
export function sessionRoutes(parts: SessionRouteParts): Documented[] {
  const { sessions } = parts
  return [
    {
      method: 'POST',
      path: '/inspector-links',
      scope: 'simulate',
      secret: true,
      keyOnly: true,
      doc: {
        id: 'createInspectorLink',
        tag: 'Simulator inspector',
        summary: 'Make a code that opens the inspector',
        description: 'It opens at `/#link=<code>` of the service.',
        answers: { 201: { description: 'The code, good once.', schema: 'InspectorLink' } },
      },
      // The code alone: the caller knows the address at which it reached the service.
      handle: ({ key }) => created({ code: sessions.invite(key.hash), expires_in_seconds: CODE_SECONDS }),
    },
    {
      method: 'POST',
      path: '/session',
      scope: null,
      secret: true,
      ...withBody(sessionCodeBody, ({ code }, call) => begin(parts, call, code)),
      doc: {
        id: 'createSession',
        tag: 'Simulator inspector',
        internal: true,
        summary: 'Begin a session',
        description:
          'For the page of the service alone: it trades the code of its link for a cookie and a secret, which it sends as `X-Tabwire-Page` from then on. A session acts for its key under `/_sim`, but for keys and the whole state.',
        answers: {
          201: { description: 'The session has begun.', schema: 'SessionSecret', headers: ['Set-Cookie'] },
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
        summary: 'Show the session',
        answers: { 200: { description: 'The session, if there is one.', schema: 'Session' } },
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

function begin({ sessions, url }: SessionRouteParts, { request }: Call, code: string): Reply {
  if (!isOwnPage(request))
    throw new Refusal('forbidden_origin', 'A session begins on the page of this service alone.')
  const secrets = sessions.begin(code)
  if (secrets === undefined)
    throw new Refusal(
      'unauthorized',
      'This link was used already, or is too old. tabwire open makes a new one.',
    )
  const cookie = sessionCookie(request.headers, secrets.token, url().startsWith('https:'))
  const body = JSON.stringify({ page_secret: secrets.pageSecret })
  return { status: 201, headers: { 'set-cookie': cookie, 'cache-control': 'no-store' }, body }
}

/** What the page needs to know of the service; `session` is `null` for a caller without one. */
async function show(
  { service, sessions, serviceName }: SessionRouteParts,
  { request }: Call,
): Promise<Reply> {
  const key = await keyOfSession(service, sessions, request)
  if (key === undefined) return ok({ session: null })
  const location = await service.get('locations', key.location_id)
  return ok({ session: { service_name: serviceName, location: location ?? null } })
}

function end({ sessions, url }: SessionRouteParts, { request }: Call): Reply {
  sessions.end(sessionSecrets(request.headers))
  const cookie = sessionCookie(request.headers, undefined, url().startsWith('https:'))
  return { status: 204, headers: { 'set-cookie': cookie }, body: null }
}
