import type { ComponentChildren, JSX } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { GuideList, GuidePage } from './docs/guides.tsx'
import { ReferencePage } from './docs/reference.tsx'
import { initialModel, noActions } from './guest/model.ts'
import { Table } from './guest/view/table.tsx'
import type { Renderer } from './renderer.js'

export const renderer: Renderer = {
  table: (view, { script, style }, language) =>
    render(
      <Document title={`Table ${view.table.number} · ${view.location.name}`} style={style}>
        <div id="page">
          <Table model={initialModel(view, language)} actions={noActions} />
        </div>
        <noscript>
          <p class="note">This is your check. Turn on JavaScript to select items and pay.</p>
        </noscript>
        <script type="module" src={script} />
      </Document>,
    ),

  noTable: ({ style }) =>
    render(
      <Document title="Table not found" style={style}>
        <main class="sheet blank">
          <h1>Table not found</h1>
          <p>This link is incomplete or no longer valid. Please scan the QR code on your table again.</p>
        </main>
      </Document>,
    ),

  inspector: ({ script, style }) =>
    render(
      <Document title="Tabwire" style={style}>
        <div id="page" />
        <noscript>
          <p>The inspector needs JavaScript. The command line shows the same data: run tabwire --help.</p>
        </noscript>
        <script type="module" src={script} />
      </Document>,
    ),

  reference: (document, style) =>
    render(
      <Document title="API reference · Tabwire" style={style}>
        <ReferencePage document={document} />
      </Document>,
    ),

  guides: (guides, style) =>
    render(
      <Document title="Guides · Tabwire" style={style}>
        <GuideList guides={guides} />
      </Document>,
    ),

  guide: (guide, guides, elsewhere, style) =>
    render(
      <Document title={`${guide.title} · Tabwire`} style={style}>
        <GuidePage guide={guide} guides={guides} elsewhere={elsewhere} />
      </Document>,
    ),
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%23205c4b'/%3E%3Cpath d='M9 12h14M9 17h14M9 22h8' stroke='%23fff' stroke-width='2.5' stroke-linecap='round'/%3E%3C/svg%3E"

interface DocumentProps {
  title: string
  /** URL path of the stylesheet. */
  style: string
  children: ComponentChildren
}

function Document({ title, style, children }: DocumentProps) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{title}</title>
        <link rel="icon" href={icon} />
        <link rel="stylesheet" href={style} />
      </head>
      <body>{children}</body>
    </html>
  )
}

/** Writes a document as HTML; preact escapes every text and attribute. */
function render(document: JSX.Element): string {
  return `<!doctype html>\n${renderToString(document)}\n`
}
