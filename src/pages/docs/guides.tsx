import type { Guide } from '../../package-file.ts'
import { Layout, Markdown } from './layout.tsx'

/** Renders the list of guides. */
export function GuideList({ guides }: { guides: readonly Guide[] }) {
  return (
    <Layout at="guides" navigation={<Links guides={guides} />}>
      <h1>Guides</h1>
      <p>
        In a terminal, <code>tabwire help webhooks</code> prints a guide.
      </p>
      <Links guides={guides} />
    </Layout>
  )
}

/** Renders a guide. Links to other guides lead to their pages; `elsewhere` is where other files of the repository are. */
export function GuidePage({
  guide,
  guides,
  elsewhere,
}: {
  guide: Guide
  guides: readonly Guide[]
  elsewhere: string
}) {
  const linked = (target: string) => {
    if (/^(https?:|#)/.test(target)) return target
    const [path = '', hash = ''] = target.split('#')
    const name = /^(?:\.\/)?([\w-]+)\.md$/.exec(path)?.[1]
    const isGuide = guides.some((one) => one.name === name)
    const url = isGuide ? `/docs/guides/${name}` : new URL(path, `${elsewhere}/src/guides/`).href
    return hash === '' ? url : `${url}#${hash}`
  }
  return (
    <Layout at="guides" navigation={<Links guides={guides} at={guide.name} />}>
      <Markdown text={guide.text} linked={linked} />
    </Layout>
  )
}

function Links({ guides, at }: { guides: readonly Guide[]; at?: string }) {
  return (
    <ul>
      {guides.map(({ name, title }) => (
        <li key={name}>
          <a href={`/docs/guides/${name}`} aria-current={name === at ? 'page' : undefined}>
            {title}
          </a>
        </li>
      ))}
    </ul>
  )
}
