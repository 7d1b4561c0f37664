import type { Collection, CollectionRequest } from './requests.ts'

/**
 * Returns a `.http` file. Ids of earlier responses are references as VS Code REST Client reads them: a variable in the
 * file, set from a named request.
 */
export function httpFile({ title, requests, variables }: Collection): string {
  const head = [
    `# ${title}`,
    '# Run the requests in order. Set apiKey in an environment of your editor.',
    '# JetBrains IDEs do not read ids from earlier responses: put them in the lines that begin with @.',
    ...Object.entries(variables).map(([key, value]) => `@${key} = ${value}`),
  ]
  return `${head.join('\n')}\n\n${requests.map((request, index) => textOf(request, index)).join('\n')}`
}

function textOf(request: CollectionRequest, index: number): string {
  const { name, description, method, path, query, needsKey, body, saves } = request
  const label = `request${index + 1}`
  const search = new URLSearchParams(query).toString().replace(/%7B%7B(\w+)%7D%7D/g, '{{$1}}')
  const notes = description.split('\n').filter((line) => line !== '')
  const saved = Object.entries(saves).map(
    ([key, field]) => `@${key} = {{${label}.response.body.$.${field.replace(/\.(\d+)/g, '[$1]')}}}\n`,
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
