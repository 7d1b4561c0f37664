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
