import { z } from 'zod'

const key = z.union([z.string().min(1), z.strictObject({ env: z.string().min(1) })])

const path = z
  .string()
  .regex(/^(\/|\{origin\}\/|https?:\/\/[^/?#])/)
  .refine((text) => URL.canParse(text.replace('{origin}', ''), 'http://localhost'), 'is not a URL')

const requestTemplate = z.strictObject({
  method: z.enum(['GET', 'PUT', 'POST', 'PATCH', 'DELETE']).default('POST'),
  path: path.describe(
    'A path that starts with / is below the base URL. {origin} is its scheme, host and port.',
  ),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.unknown().optional(),
})

/**
 * Choices of a deployment where the specification leaves them open, for `contract check --profile`
 * (`fixtures/contract-profile.schema.json`). Field paths are property names joined by dots.
 */
export const profileSchema = z.strictObject({
  $schema: z.string().optional(),
  service_name: z
    .string()
    .optional()
    .describe('The name in the signature header: Acme for X-Acme-Signature.'),
  order_by: z
    .union([
      z.string().min(1),
      z.strictObject({ field: z.string().min(1), type: z.enum(['integer', 'string', 'time']) }),
    ])
    .optional()
    .describe(
      'The field of a push that orders updates, as a path with dots, and its type if known: integers, integers as text, or ISO 8601 times.',
    ),
  keys: z
    .strictObject({
      read: key.optional().describe('For GET requests. Must not have write scope.'),
      push: key.optional().describe('For pushes.'),
      write: key.optional().describe('For registering and pinging webhook endpoints.'),
    })
    .optional()
    .describe('API keys per scope, as text or as {"env": "NAME"}. Missing scopes use --api-key.'),
  paths: z
    .strictObject({
      check: z.string().startsWith('/').optional().describe('GET of one check: {external_check_id}.'),
      endpoint: z.string().startsWith('/').optional().describe('GET of one webhook endpoint: {id}.'),
      delete_endpoint: path.optional().describe('DELETE of one webhook endpoint: {id}, {origin}.'),
    })
    .optional(),
  fields: z
    .strictObject({
      items: z
        .string()
        .min(1)
        .optional()
        .describe(
          'The list of items in the response of GET for a check, as a path from its root, also through lists: courses.dishes.',
        ),
      external_id: z.string().min(1).optional().describe('The external id of an item.'),
      endpoint_id: z.string().min(1).optional().describe('The id in the response to a registration.'),
      signing_secret: z.string().min(1).optional().describe('The secret in the response to a registration.'),
    })
    .optional(),
  push: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Additional fields of every push. Placeholder: {external_check_id}.'),
  item: z.record(z.string(), z.unknown()).optional().describe('Additional fields of every item.'),
  claim: requestTemplate
    .optional()
    .describe(
      'Claims one unit of an item as a guest. Placeholders: {external_check_id}, {external_id}, {origin}.',
    ),
  clock: requestTemplate
    .optional()
    .describe('Advances the clock of the service. Placeholders: {seconds}, {origin}.'),
})

export type Profile = z.infer<typeof profileSchema>
export type RequestTemplate = z.infer<typeof requestTemplate>

/** Returns Tabwire's own profile for the service at `root`, the base URL without its version segment. */
export function simulatorProfileAt(root: string) {
  return {
    paths: { delete_endpoint: `${root}/_sim/webhook-endpoints/{id}` },
    claim: {
      method: 'POST',
      path: `${root}/_sim/checks/{external_check_id}/claims`,
      body: { items: [{ external_id: '{external_id}', quantity: 1 }] },
    },
    clock: { method: 'POST', path: `${root}/_sim/clock`, body: { advance: '{seconds}s' } },
  } satisfies Profile
}

/** Fills `{placeholders}` of a path; values are percent-encoded but for `{origin}`. */
export function fillPath(template: string, values: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{(\w+)\}/g, (all, name: string) => {
    const value = values[name]
    return value === undefined ? all : name === 'origin' ? String(value) : encodeURIComponent(value)
  })
}

/** Fills `{placeholders}` in every text of a JSON value. A text that is one placeholder for a number becomes that number. */
export function fillBody(template: unknown, values: Readonly<Record<string, string | number>>): unknown {
  if (typeof template === 'string') {
    const whole = /^\{(\w+)\}$/.exec(template)?.[1]
    if (whole !== undefined && values[whole] !== undefined) return values[whole]
    return template.replace(/\{(\w+)\}/g, (all, name: string) => String(values[name] ?? all))
  }
  if (Array.isArray(template)) return template.map((one) => fillBody(one, values))
  if (typeof template !== 'object' || template === null) return template
  return Object.fromEntries(Object.entries(template).map(([name, value]) => [name, fillBody(value, values)]))
}
