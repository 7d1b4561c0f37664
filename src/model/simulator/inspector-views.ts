import { z } from 'zod'
import { inspectorCode } from './inspector-link.ts'
import { endpointView, locationView } from '../views.ts'

/** What the inspector's page is shown, as schemas. */
export const inspectorLinkView = z.strictObject({
  code: z
    .string()
    .regex(inspectorCode)
    .describe('Opens the inspector once, at `/#link=<code>` of the service.'),
  expires_in_seconds: z.int().min(1),
})

export const sessionSecretView = z.strictObject({
  page_secret: z.string().min(1).describe('What the page sends as `X-Tabwire-Page` beside its cookie.'),
})

export const sessionView = z.strictObject({
  session: z.strictObject({ service_name: z.string(), location: locationView.nullable() }).nullable(),
})

/** An endpoint with how near it is to being disabled. */
export const endpointHealthView = endpointView.extend({ consecutive_failures: z.int().min(0) })
