import type { Json } from './json.ts'
import { type Collection, collectionOf, type CollectionRequest } from './collection-requests.ts'

/** Formats of collections: a text for a file, or texts for files in a folder by path. */
const formats = {
  bruno: brunoFiles,
  http: httpFile,
  postman: postmanCollection,
} satisfies Record<string, (collection: Collection) => string | Readonly<Record<string, string>>>

export type CollectionFormat = keyof typeof formats

export const collectionFormats = Object.keys(formats) as CollectionFormat[]

/** Returns the text of a collection, or several by their path in a folder. */
export function collectionFiles(
  format: CollectionFormat,
  document: Json,
): string | Readonly<Record<string, string>> {
  return formats[format](collectionOf(document))
}

/**
 * Returns a `.http` file. Ids of earlier responses are references as VS Code REST Client reads them: a variable in the
 * file, set from a named request.
 */
function httpFile({ title, requests, variables }: Collection): string {
  const head = [
    `# ${title}`,
    '# Run the requests in order. Set apiKey in an environment of your editor.',
    '# JetBrains IDEs do not read ids from earlier responses: put them in the lines that begin with @.',
    ...Object.entries(variables).map(([key, value]) => `@${key} = ${value}`),
  ]
  return `${head.join('\n')}\n\n${requests.map((request, index) => httpText(request, index)).join('\n')}`
}

function httpText(request: CollectionRequest, index: number): string {
  const { name, description, method, path, query, needsKey, body, saves } = request
  const label = `request${index + 1}`
  const search = new URLSearchParams(query).toString().replace(/%7B%7B(\w+)%7D%7D/g, '{{$1}}')
  const notes = description.split('\n').filter((line) => line !== '')
  const saved = Object.entries(saves).map(
    ([key, field]) => `@${key} = {{${label}.response.body.$.${indexed(field)}}}\n`,
  )
  return [
    `### ${name}`,
    ...notes.map((line) => `# ${line}`),
    `# @name ${label}`,
    `${method} {{baseUrl}}${path}${search === '' ? '' : `?${search}`}`,
    ...(needsKey ? ['Authorization: Bearer {{apiKey}}'] : []),
    ...(body === undefined ? [] : ['Content-Type: application/json', '', JSON.stringify(body, null, 2)]),
    '',
    // Before the next request, in a part of its own: REST Client would send it as a part of the body.
    ...(saved.length > 0 ? ['###', ...saved] : []),
  ].join('\n')
}

/** Returns the files of a Bruno collection, by path: `bruno.json`, an environment and a file for each request. */
function brunoFiles({ title, requests, variables }: Collection): Readonly<Record<string, string>> {
  const manifest = { version: '1', name: title, type: 'collection', ignore: ['node_modules', '.git'] }
  return {
    'bruno.json': `${JSON.stringify(manifest, null, 2)}\n`,
    'environments/local.bru': `${block('vars', pairs(variables))}vars:secret [\n  apiKey\n]\n`,
    ...Object.fromEntries(
      requests.map((request, index) => [fileOf(request, index + 1), brunoText(request, index + 1)]),
    ),
  }
}

function fileOf({ name }: CollectionRequest, sequence: number): string {
  const words =
    name
      .toLowerCase()
      .replaceAll("'", '')
      .match(/[a-z0-9]+/g) ?? []
  return `${String(sequence).padStart(2, '0')}-${words.join('-')}.bru`
}

function brunoText(request: CollectionRequest, sequence: number): string {
  const { name, description, method, query, needsKey, body, saves } = request
  const url = urlOf(request)
  const fields = Object.fromEntries(
    Object.entries(saves).map(([key, field]) => [key, `res.body.${indexed(field)}`]),
  )
  return [
    block('meta', pairs({ name, type: 'http', seq: String(sequence) })),
    block(
      method.toLowerCase(),
      pairs({ url, body: body === undefined ? 'none' : 'json', auth: needsKey ? 'bearer' : 'none' }),
    ),
    ...(Object.keys(query).length > 0 ? [block('params:query', pairs(query))] : []),
    ...(needsKey ? [block('auth:bearer', pairs({ token: '{{apiKey}}' }))] : []),
    ...(body === undefined ? [] : [block('body:json', JSON.stringify(body, null, 2).split('\n'))]),
    ...(Object.keys(saves).length > 0 ? [block('vars:post-response', pairs(fields))] : []),
    ...(description === '' ? [] : [block('docs', description.split('\n'))]),
  ]
    .join('\n')
    .trimEnd()
    .concat('\n')
}

function pairs(fields: Readonly<Record<string, string>>): string[] {
  return Object.entries(fields).map(([key, value]) => `${key}: ${value}`)
}

function block(name: string, lines: readonly string[]): string {
  return `${name} {\n${lines.map((line) => `  ${line}`.trimEnd()).join('\n')}\n}\n`
}

/** Returns a Postman collection in format 2.1. It has no folders, since its requests run in order. */
function postmanCollection({ title, requests, variables }: Collection): string {
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
        raw: urlOf(request),
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

/** Returns the URL of a request with its query, in which variables stay as they are. */
function urlOf({ path, query }: CollectionRequest): string {
  const search = Object.entries(query).map(([key, value]) => `${key}=${value}`)
  return `{{baseUrl}}${path}${search.length === 0 ? '' : `?${search.join('&')}`}`
}

/** `data.0.id` as `data[0].id`. */
function indexed(field: string): string {
  return field.replace(/\.(\d+)/g, '[$1]')
}
