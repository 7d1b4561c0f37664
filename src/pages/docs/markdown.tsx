import { Marked, type Tokens } from 'marked'

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
    .replace(/<[^>]+>|&\w+;/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, '')
    .trim()
    .replace(/\s+/g, '-')
}
