import type { Json } from './json.ts'

/** A request of a collection. Texts may contain variables, as `{{name}}`. */
export interface CollectionRequest {
  /** Unique in the collection. */
  name: string
  description: string
  /** Upper case. */
  method: string
  /** Path below the base URL, without a query. */
  path: string
  query: Readonly<Record<string, string>>
  needsKey: boolean
  body: unknown
  /** Variables for later requests, each with its path in the response, such as `data.0.id`. */
  saves: Readonly<Record<string, string>>
}

export interface Collection {
  title: string
  requests: readonly CollectionRequest[]
  /** Variables with their first values. The API key is none of them. */
  variables: Readonly<Record<string, string>>
}

interface Operation {
  operationId: string
  summary: string
  description?: string
  security: readonly Json[]
  requestBody?: { content: Record<string, { examples?: Record<string, { $ref: string }> }> }
}

interface Document {
  info: { title: string }
  servers: readonly [{ url: string }]
  /** Operations by path and method. A path may also have `parameters`. */
  paths: Record<string, Record<string, Operation>>
  components: { examples: Record<string, { value: unknown }> }
}

/** Returns the requests that use the operations of an OpenAPI document, in an order in which each succeeds. */
export function collectionOf(openApi: Json): Collection {
  const document = openApi as unknown as Document
  const operations = operationsOf(document)
  const { examples } = document.components
  const pushed = examples[`CheckPush.${PUSH_EXAMPLE}`]?.value as PushedExample
  const registration = examples.WebhookEndpointRegistration?.value as { url: string }
  return {
    title: document.info.title,
    requests: stepsFor(pushed).flatMap((step) => {
      const found = operations.get(step.operation)
      return found === undefined ? [] : [requestOf(step, found, document)]
    }),
    variables: {
      baseUrl: document.servers[0].url,
      webhookUrl: registration.url,
      externalCheckId: checkIdOf(document),
    },
  }
}

/** The example of the path parameter, as the document has it. */
function checkIdOf({ paths }: Document): string {
  const parameters = Object.values(paths).flatMap(parametersOf)
  return parameters.find(({ name }) => name === 'external_check_id')?.example ?? ''
}

function parametersOf(item: { parameters?: unknown }) {
  return (item.parameters ?? []) as readonly { name: string; example?: string }[]
}

interface Found {
  method: string
  path: string
  operation: Operation
}

function operationsOf({ paths }: Document): ReadonlyMap<string, Found> {
  const found = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== 'parameters')
      .map(([method, operation]) => ({ method, path, operation })),
  )
  return new Map(found.map((one) => [one.operation.operationId, one]))
}

function requestOf(step: Step, { method, path, operation }: Found, document: Document): CollectionRequest {
  const { name = operation.summary, note, query = {}, saves = {} } = step
  return {
    name: name.replace(/\.$/, ''),
    description: [operation.description, note].filter((text) => text !== undefined).join('\n\n'),
    method: method.toUpperCase(),
    path: path.replace(/\{(\w+)\}/g, (_, parameter: string) => valueOf(step, parameter)),
    query,
    needsKey: operation.security.length > 0,
    body: bodyOf(step, operation, document),
    saves,
  }
}

function valueOf({ operation, path = {} }: Step, parameter: string): string {
  const value = path[parameter]
  if (value === undefined) throw new Error(`${operation} has no value for ${parameter}.`)
  return value
}

function bodyOf({ example, body = {} }: Step, { requestBody }: Operation, { components }: Document): unknown {
  const examples = requestBody?.content['application/json']?.examples
  if (examples === undefined) return undefined
  const reference = example === undefined ? Object.values(examples)[0] : examples[example]
  const value = components.examples[reference?.$ref.split('/').at(-1) ?? '']?.value
  return { ...(value as Json), ...body }
}

/** A request of a collection: an operation of the document, and what the document cannot say about it. */
interface Step {
  /** Operation id. */
  operation: string
  /** Name of the request; the operation's summary by default. */
  name?: string
  /** Advice to read before sending the request. */
  note?: string
  /** Values of path parameters; `{{name}}` is a variable. */
  path?: Readonly<Record<string, string>>
  /** Query parameters that are sent. */
  query?: Readonly<Record<string, string>>
  /** Name of the example in the document; the first one by default. */
  example?: string
  /** Fields that replace those of the example. */
  body?: Readonly<Record<string, unknown>>
  /** Variables for later requests, each with its path in the response. */
  saves?: Readonly<Record<string, string>>
}

/** Fields of the example push that later requests need. */
interface PushedExample {
  table: { number: string }
  items: readonly { external_id: string }[]
}

/** The example push, whose items the guests claim. */
const PUSH_EXAMPLE = 'two-top'

/** Returns the requests in the order in which they run. Operations that the document lacks are left out later. */
function stepsFor({ table, items }: PushedExample): readonly Step[] {
  const check = { external_check_id: '{{externalCheckId}}' }
  const [first = '', second = ''] = items.map(({ external_id }) => external_id)
  const claimOf = (external_id: string) => ({ items: [{ external_id, quantity: 1 }] })
  return [
    { operation: 'getHealth' },
    { operation: 'getReadiness' },
    { operation: 'getMetrics' },
    { operation: 'listLocations' },
    {
      operation: 'registerWebhookEndpoint',
      body: { url: '{{webhookUrl}}' },
      saves: { endpointId: 'id' },
    },
    { operation: 'listWebhookEndpoints' },
    { operation: 'getWebhookEndpoint', path: { id: '{{endpointId}}' } },
    { operation: 'pingWebhookEndpoint', path: { id: '{{endpointId}}' } },
    { operation: 'pushCheck', path: check, example: PUSH_EXAMPLE },
    { operation: 'listChecks' },
    { operation: 'getCheck', path: check },
    { operation: 'getClock' },
    {
      operation: 'moveClock',
      note: 'Makes all attempts of the next 36 hours, so the first delivery is delivered or dead.',
    },
    { operation: 'listDeliveries', query: check, saves: { deliveryId: 'data.0.id' } },
    { operation: 'getDelivery', path: { id: '{{deliveryId}}' } },
    { operation: 'getSentSignature', path: { id: '{{deliveryId}}' } },
    { operation: 'resendDelivery', path: { id: '{{deliveryId}}' } },
    { operation: 'listEvents', query: check, saves: { eventId: 'data.0.id' } },
    { operation: 'getEvent', path: { id: '{{eventId}}' } },
    { operation: 'claimItems', path: check, body: claimOf(first), saves: { newClaimId: 'id' } },
    { operation: 'listClaims', query: check, saves: { claimId: 'data.0.id' } },
    { operation: 'getClaim', path: { id: '{{claimId}}' } },
    {
      operation: 'payCheck',
      path: check,
      body: { claim_ids: ['{{newClaimId}}'] },
      saves: { newPaymentId: 'id' },
    },
    { operation: 'listPayments', query: check, saves: { paymentId: 'data.0.id' } },
    { operation: 'getPayment', path: { id: '{{paymentId}}' } },
    { operation: 'refundPayment', path: { id: '{{newPaymentId}}' } },
    {
      operation: 'claimItems',
      name: 'Claim another item',
      path: check,
      body: claimOf(second),
      saves: { otherClaimId: 'id' },
    },
    { operation: 'releaseClaim', path: { id: '{{otherClaimId}}' } },
    { operation: 'leaveFeedback', path: check },
    { operation: 'listFeedback', query: check, saves: { feedbackId: 'data.0.id' } },
    { operation: 'getFeedback', path: { id: '{{feedbackId}}' } },
    { operation: 'getTableAddress', path: { number: table.number } },
    { operation: 'createInspectorLink' },
    { operation: 'listRequests', query: check, saves: { requestId: 'data.0.id' } },
    { operation: 'getRequest', path: { id: '{{requestId}}' } },
    { operation: 'getReport' },
    { operation: 'getAccount' },
    { operation: 'getBundle' },
    { operation: 'setFaults' },
    { operation: 'getFaults' },
    { operation: 'clearFaults' },
    {
      operation: 'registerWebhookEndpointWithSecret',
      body: { url: '{{webhookUrl}}' },
      saves: { otherEndpointId: 'id' },
    },
    { operation: 'deleteWebhookEndpoint', path: { id: '{{otherEndpointId}}' } },
    { operation: 'createKey', saves: { keyId: 'id' } },
    { operation: 'listKeys' },
    { operation: 'revokeKey', path: { id: '{{keyId}}' } },
    { operation: 'getState' },
    { operation: 'loadState', note: 'Replaces all records of the service.' },
    { operation: 'resetState', note: 'Removes all records of the service.' },
    { operation: 'streamEvents', note: 'The response does not end. Cancel the request.' },
  ]
}
