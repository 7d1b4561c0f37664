import type { Collection, CollectionRequest } from './requests.ts'

/** Returns a Postman collection in format 2.1. It has no folders, since its requests run in order. */
export function postmanCollection({ title, requests, variables }: Collection): string {
  const collection = {
    info: {
      name: title,
      description: 'Set the variable apiKey, then run the requests in order.',
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{apiKey}}', type: 'string' }] },
    variable: [
      ...Object.entries({ ...variables, apiKey: '' }),
      ...requests.flatMap(({ saves }) => Object.keys(saves).map((key) => [key, ''] as const)),
    ].map(([key, value]) => ({ key, value, type: 'string' })),
    item: requests.map(itemOf),
  }
  return `${JSON.stringify(collection, null, 2)}\n`
}

function itemOf(request: CollectionRequest) {
  const { name, description, method, path, query, needsKey, body, saves } = request
  const parameters = Object.entries(query)
  const search = parameters.map(([key, value]) => `${key}=${value}`).join('&')
  const script = Object.entries(saves).map(
    ([key, field]) => `pm.collectionVariables.set('${key}', pm.response.json()${optional(field)})`,
  )
  return {
    name,
    ...(script.length > 0 && {
      event: [{ listen: 'test', script: { type: 'text/javascript', exec: script } }],
    }),
    request: {
      method,
      description,
      ...(needsKey ? {} : { auth: { type: 'noauth' } }),
      header: body === undefined ? [] : [{ key: 'Content-Type', value: 'application/json' }],
      url: {
        raw: `{{baseUrl}}${path}${search === '' ? '' : `?${search}`}`,
        host: ['{{baseUrl}}'],
        path: path.slice(1).split('/'),
        ...(parameters.length > 0 && { query: parameters.map(([key, value]) => ({ key, value })) }),
      },
      ...(body !== undefined && {
        body: {
          mode: 'raw',
          raw: JSON.stringify(body, null, 2),
          options: { raw: { language: 'json' } },
        },
      }),
    },
    response: [],
  }
}

/** `data.0.id` as `.data?.[0]?.id`: a list may be empty. */
function optional(field: string): string {
  const [first = '', ...rest] = field.split('.')
  return `.${first}${rest.map((name) => (/^\d+$/.test(name) ? `?.[${name}]` : `?.${name}`)).join('')}`
}
