import { Marked, type Tokens } from 'marked'
import type { ComponentChildren } from 'preact'

interface LayoutProps {
  /** The page that is open, for the links at the top. */
  at: 'reference' | 'guides'
  /** Contents of the navigation at the side. */
  navigation: ComponentChildren
  children: ComponentChildren
}

/** Layout of the documentation: links at the top, navigation at the side, and on a phone folded above the text. */
export function Layout({ at, navigation, children }: LayoutProps) {
  const link = (href: string, name: string, isHere: boolean) => (
    <a href={href} aria-current={isHere ? 'page' : undefined}>
      {name}
    </a>
  )
  return (
    <div class="docs">
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header>
        <strong>Tabwire</strong>
        <nav aria-label="Documentation">
          {link('/docs', 'API reference', at === 'reference')}
          {link('/docs/guides', 'Guides', at === 'guides')}
          {link('/', 'Inspector', false)}
          {link('/openapi.json', 'openapi.json', false)}
        </nav>
      </header>
      <div class="columns">
        <details class="contents">
          <summary>Contents</summary>
          <nav aria-label="Contents">{navigation}</nav>
        </details>
        <main id="content">{children}</main>
      </div>
    </div>
  )
}

/** Returns the URL of a link in a Markdown text; `undefined` leaves the text without a link. */
type Linked = (target: string) => string | undefined

/** Writes a Markdown text of the package as HTML. Headings have ids, so that links can lead to them. */
export function Markdown({ text, linked }: { text: string; linked?: Linked }) {
  const html = converterOf(linked).parse(text, { async: false })
  // The text is part of the package, never a caller's.
  return <div class="prose" dangerouslySetInnerHTML={{ __html: html }} />
}

function converterOf(linked: Linked = (target) => target): Marked {
  return new Marked({
    renderer: {
      heading({ tokens, depth }: Tokens.Heading): string {
        const html = this.parser.parseInline(tokens)
        return `<h${depth} id="${idOf(html)}">${html}</h${depth}>\n`
      },
      link({ href, tokens }: Tokens.Link): string {
        const html = this.parser.parseInline(tokens)
        const target = linked(href)
        return target === undefined ? html : `<a href="${target.replaceAll('"', '%22')}">${html}</a>`
      },
      // A wide table scrolls by itself, and so needs a tab stop.
      table(token: Tokens.Table): string {
        const cells = (tag: 'th' | 'td', row: Tokens.TableCell[]) =>
          row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')
        const rows = token.rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('\n')
        return `<div class="wide" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${cells('th', token.header)}</tr></thead><tbody>${rows}</tbody></table></div>\n`
      },
      // A block of code scrolls by itself, too.
      code({ text: lines, escaped }: Tokens.Code): string {
        const html = escaped === true ? lines : escapedText(lines)
        return `<pre tabindex="0" role="group" aria-label="Code"><code>${html}</code></pre>\n`
      },
      image: ({ text: description }: Tokens.Image): string => `<em>${description}</em>`,
    },
  })
}

function escapedText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** `First <code>push</code>` becomes `first-push`, as code hosts do. */
function idOf(html: string): string {
  return html
    .replace(/<[^>]+>|&#?\w+;/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, '')
    .trim()
    .replace(/\s+/g, '-')
}
