import type { ComponentChildren } from 'preact'
import { Layout, Markdown } from './layout.tsx'
import {
  limitsOf,
  nameOf,
  operationsByTag,
  resolved,
  type Content,
  type OpenApi,
  type Parameter,
  type Placed,
  type ResponseDoc,
  type Schema,
} from './openapi.ts'

/** Renders the OpenAPI document: a quick start, the operations by tag, the webhooks and the schemas. */
export function ReferencePage({ document }: { document: OpenApi }) {
  const tags = operationsByTag(document)
  const webhooks = Object.entries(document.webhooks).flatMap(([type, methods]) =>
    Object.values(methods).map((operation): Placed => ({ method: 'POST', path: type, operation })),
  )
  const schemas = Object.entries(document.components.schemas ?? {}) as [string, Schema][]
  const navigation = (
    <>
      <a href="#quick-start">Quick start</a>
      {[...tags, { tag: WEBHOOKS, operations: webhooks }].map(({ tag, operations }) => (
        <section key={tag}>
          <a href={`#${idOf(tag)}`}>{tag}</a>
          <ul>
            {operations.map(({ operation }) => (
              <li key={operation.operationId}>
                <a href={`#${operation.operationId}`}>{operation.summary}</a>
              </li>
            ))}
          </ul>
        </section>
      ))}
      <a href="#schemas">Schemas</a>
    </>
  )
  return (
    <Layout at="reference" navigation={navigation}>
      <h1>API reference</h1>
      <QuickStart url={document.servers[0]?.url ?? ''} />
      <Markdown text={document.info.description ?? ''} />
      {tags.map(({ tag, description, operations }) => (
        <section key={tag}>
          <h2 id={idOf(tag)}>{tag}</h2>
          <Markdown text={description} />
          {operations.map((placed) => (
            <OperationDoc key={placed.operation.operationId} document={document} {...placed} />
          ))}
        </section>
      ))}
      <section>
        <h2 id={idOf(WEBHOOKS)}>{WEBHOOKS}</h2>
        <p>The service sends these requests to webhook endpoints.</p>
        {webhooks.map((placed) => (
          <OperationDoc key={placed.operation.operationId} document={document} {...placed} />
        ))}
      </section>
      <section>
        <h2 id="schemas">Schemas</h2>
        {schemas.map(([name, schema]) => (
          <article key={name} id={`schema-${name}`}>
            <h3>{name}</h3>
            <SchemaDoc schema={schema} />
          </article>
        ))}
      </section>
    </Layout>
  )
}

const WEBHOOKS = 'Webhooks'

function QuickStart({ url }: { url: string }) {
  return (
    <section>
      <h2 id="quick-start">Quick start</h2>
      <p>
        Every call under <code>/v1</code> carries an API key. <code>tabwire start</code> prints one and keeps
        it in <code>.tabwire/credentials.json</code>.
      </p>
      <Code text={quickStart(url)} name="Quick start in a shell" />
      <p>
        With the command line: <code>tabwire push --sample two-top</code>. The{' '}
        <a href="/docs/guides">guides</a> explain webhooks, tests and CI.
      </p>
    </section>
  )
}

function quickStart(url: string): string {
  return [
    `curl -H "Authorization: Bearer $TABWIRE_API_KEY" ${url}/v1/locations`,
    '',
    `curl -X PUT ${url}/v1/checks/external/table-12 \\`,
    '  -H "Authorization: Bearer $TABWIRE_API_KEY" -H "Content-Type: application/json" \\',
    `  -d '{"table":{"number":"12"},"status":"open","items":[{"external_id":"line-1","name":"Burger","quantity":2,"price_cents":1450}],"totals":{"subtotal_cents":2900,"tax_cents":254,"total_cents":3154}}'`,
  ].join('\n')
}

function OperationDoc({ document, method, path, operation }: Placed & { document: OpenApi }) {
  const { operationId, summary, description = '', parameters = [], requestBody, responses } = operation
  const described = parameters.map((one) => resolved<Parameter>(document, one))
  return (
    <article id={operationId}>
      <h3>{summary}</h3>
      <p class="call">
        <b class={`method ${method.toLowerCase()}`}>{method}</b> <code>{path}</code>
      </p>
      <Markdown text={description} />
      {described.length > 0 && (
        <Table name="Parameters" headings={['Parameter', 'In', 'Type', 'Description']}>
          {described.map(({ name, in: place, required, schema = {}, description: text }) => (
            <tr key={name}>
              <td>
                <code>{name}</code>
                {required === true && <Required />}
              </td>
              <td>{place}</td>
              <td>
                <Type schema={schema} />
              </td>
              <td>
                <Inline text={text} limits={limitsOf(schema)} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {requestBody !== undefined && (
        <ContentDoc document={document} title="Request body" content={requestBody.content} />
      )}
      <Responses document={document} responses={responses} />
    </article>
  )
}

function ContentDoc({ document, title, content }: { document: OpenApi; title: string; content: Content }) {
  return (
    <>
      {Object.entries(content).map(([type, { schema, examples = {} }]) => (
        <section key={type} class="content">
          <h4>
            {title} <small>{type}</small>
          </h4>
          {schema !== undefined && <SchemaDoc schema={schema} />}
          {Object.entries(examples).map(([name, example]) => {
            const { value } = resolved<{ value?: unknown }>(document, example)
            return (
              value !== undefined && (
                <details key={name}>
                  <summary>{name === 'example' ? 'Example' : `Example: ${name}`}</summary>
                  <Code
                    text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)}
                    name={`Example ${name}`}
                  />
                </details>
              )
            )
          })}
        </section>
      ))}
    </>
  )
}

function Responses({
  document,
  responses,
}: {
  document: OpenApi
  responses: Placed['operation']['responses']
}) {
  const rows = Object.entries(responses).map(([status, response]) => {
    const { description, content = {} } = resolved<ResponseDoc>(document, response)
    return { status, description, schemas: Object.values(content).flatMap(({ schema }) => schema ?? []) }
  })
  return (
    <Table name="Responses" headings={['Status', 'Body', 'Description']}>
      {rows.map(({ status, description, schemas }) => (
        <tr key={status}>
          <td>
            <code>{status}</code>
          </td>
          <td>
            {schemas.map((schema, index) => (
              <Type key={index} schema={schema} />
            ))}
          </td>
          <td>
            <Inline text={description} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

/** A schema: a link when it has a name, a table of properties, or its type in words. */
function SchemaDoc({ schema }: { schema: Schema }) {
  const { properties, required = [] } = schema
  if (properties === undefined)
    return (
      <p>
        <Type schema={schema} /> <Inline text={schema.description} limits={limitsOf(schema)} />
      </p>
    )
  return (
    <>
      {schema.description !== undefined && <Markdown text={schema.description} />}
      <Table name="Properties" headings={['Property', 'Type', 'Description']}>
        {Object.entries(properties).map(([name, property]) => (
          <tr key={name}>
            <td>
              <code>{name}</code>
              {required.includes(name) && <Required />}
            </td>
            <td>
              <Type schema={property} />
            </td>
            <td>
              <Inline text={property.description} limits={limitsOf(property)} />
            </td>
          </tr>
        ))}
      </Table>
    </>
  )
}

function Required() {
  return <small class="required"> required</small>
}

/** The type of a schema in words; a named schema is a link to its description. */
function Type({ schema }: { schema: Schema }): ComponentChildren {
  if (schema.$ref !== undefined) {
    const name = nameOf(schema.$ref)
    return <a href={`#schema-${name}`}>{name}</a>
  }
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf
  if (choices !== undefined)
    return choices.map((choice, index) => (
      <span key={index}>
        {index > 0 && (schema.allOf === undefined ? ' or ' : ' and ')}
        <Type schema={choice} />
      </span>
    ))
  if (schema.const !== undefined) return <code>{JSON.stringify(schema.const)}</code>
  if (schema.enum !== undefined)
    return <span>{schema.enum.map((value) => JSON.stringify(value)).join(', ')}</span>
  if (schema.items !== undefined)
    return (
      <span>
        array of <Type schema={schema.items} />
      </span>
    )
  if (schema.properties !== undefined)
    return <span>{`object {${Object.keys(schema.properties).join(', ')}}`}</span>
  return <span>{[schema.type ?? 'any'].flat().join(' or ')}</span>
}

function Inline({ text = '', limits = '' }: { text?: string | undefined; limits?: string }) {
  return (
    <>
      {text !== '' && <Markdown text={text} />}
      {limits !== '' && <small>{limits}</small>}
    </>
  )
}

function Table({
  name,
  headings,
  children,
}: {
  name: string
  headings: readonly string[]
  children: ComponentChildren
}) {
  return (
    <div class="wide" tabIndex={0} role="group" aria-label={name}>
      <table>
        <thead>
          <tr>
            {headings.map((heading) => (
              <th key={heading}>{heading}</th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

/** A block of code that scrolls by itself, and so has a tab stop. */
function Code({ text, name }: { text: string; name: string }) {
  return (
    <pre tabIndex={0} role="group" aria-label={name}>
      <code>{text}</code>
    </pre>
  )
}

function idOf(tag: string): string {
  return `tag-${tag.toLowerCase().replaceAll(' ', '-')}`
}
