import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { barriers } from '../support/barriers.ts'
import { hasBrowser, inBrowser, openPhone } from '../support/browser.ts'
import { isSoak, sampled } from '../soak/seeded.ts'
import { root } from '../support/packed.ts'
import { openSimulator } from '../support/simulator.ts'

const guides = (await readdir(join(root, 'src/guides')))
  .filter((file) => file.endsWith('.md'))
  .map((file) => file.replace(/\.md$/, ''))

interface Operation {
  operationId?: string
  'x-internal'?: boolean
}

interface OpenApi {
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object> }
}

/** Returns the answer of a service at /docs, which takes long to render, so that tests share it. */
const reference = memoized(async () => {
  const { call, url } = await openSimulator()
  return {
    ...(await call('GET /docs', { key: null })),
    url,
    document: await call('GET /openapi.json', { key: null }),
  }
})

function memoized<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}

describe('the API reference at /docs', () => {
  it('has no script, and loads only its own style and nothing from other origins', async () => {
    const { call, url } = await openSimulator()
    const { status, headers, text } = await call('GET /docs', { key: null })
    expect(status).toBe(200)
    expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self';")
    expect(text).not.toMatch(/<script|\son\w+=/)
    const foreign = [...text.matchAll(/(?:src|href)="(https?:[^"]+)"/g)].map(([, target]) => target)
    expect(foreign.filter((target) => !target?.startsWith(url))).toEqual([])
    const assets = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path)
    expect(assets).toEqual([expect.stringMatching(/\.css$/)])
    expect((await call(`GET ${assets[0]}`, { key: null })).status).toBe(200)
  })

  it('describes each operation, webhook and schema of the document, and all links have a target', async () => {
    const { text, url, document: json } = await reference()
    const document = JSON.parse(json.text) as OpenApi
    const ids = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
    const methods = [...Object.values(document.paths), ...Object.values(document.webhooks)]
    const operations = methods
      .flatMap((ofPath): Operation[] => Object.values(ofPath))
      .filter((operation) => operation['x-internal'] !== true)
      .flatMap(({ operationId }) => operationId ?? [])
    expect(operations.length).toBeGreaterThan(40)
    expect(operations.filter((id) => !ids.has(id))).toEqual([])
    expect(Object.keys(document.components.schemas).filter((name) => !ids.has(`schema-${name}`))).toEqual([])
    const targets = [...text.matchAll(/ href="#([^"]+)"/g)].map(([, id]) => id)
    expect(targets.filter((id) => !ids.has(id))).toEqual([])
    expect(text).toContain(`${url}/v1/locations`)
  })

  it('shows examples and limits as text, never as markup', async () => {
    const { text } = await reference()
    expect(text).toContain('1 to 255 characters')
    // Every integer has this bound.
    expect(text).not.toContain(String(Number.MAX_SAFE_INTEGER))
    expect(text).toContain('&quot;price_cents&quot;: 1850')
  })

  it
    .runIf(hasBrowser)
    .each([[360, 'dark'] as const, [1280, 'light'] as const].filter(([width]) => isSoak || width === 360))(
    `fits %i px in %s and has no accessibility barrier, ${inBrowser}`,
    async (width, colorScheme) => {
      const { url } = await openSimulator()
      const page = await openPhone(`${url}/docs`, { viewport: { width, height: 800 }, colorScheme })
      expect(await page.title()).toBe('API reference · Tabwire')
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      if (width < 800) await page.getByText('Contents', { exact: true }).click()
      await page.getByRole('link', { name: 'Push the current state of a check' }).click()
      await page.getByRole('heading', { name: 'Push the current state of a check' }).waitFor()
      expect(page.url()).toBe(`${url}/docs#pushCheck`)
      await page.getByText('Example: two-top').click()
      await page.getByText('"number": "12"').first().waitFor()
      if (width > 800) return
      // axe takes half a minute for all of the page; a few articles of a section show every kind of element.
      await page.evaluate(
        `document.querySelectorAll('article:nth-of-type(n + ${isSoak ? 3 : 2})').forEach((one) => one.remove())`,
      )
      expect(await barriers(page)).toEqual([])
    },
  )
})

describe('the guides at /docs/guides', () => {
  /** Paths that were answered with 200: most guides link to the same pages. */
  const found = new Set<string>()

  it.each(sampled(guides, 3))('%s is a page whose links lead to pages', async (name) => {
    const { call } = await openSimulator()
    const { status, text } = await call(`GET /docs/guides/${name}`, { key: null })
    expect(status).toBe(200)
    const [, title = ''] = /^# (.+)$/m.exec(await readFile(join(root, `src/guides/${name}.md`), 'utf8')) ?? []
    expect(text).toContain(`<title>${title.replaceAll('`', '')} · Tabwire</title>`)
    const links = [...text.matchAll(/ href="(\/docs[^"#]*)/g)].map(([, path = '']) => path)
    expect(links.length).toBeGreaterThan(guides.length)
    for (const path of new Set(links)) {
      if (found.has(path)) continue
      expect([path, (await call(`GET ${path}`, { key: null })).status]).toEqual([path, 200])
      found.add(path)
    }
  })

  it('are listed, and an unknown one is not found', async () => {
    const { call } = await openSimulator()
    const { text } = await call('GET /docs/guides', { key: null })
    for (const name of guides) expect(text).toContain(`href="/docs/guides/${name}"`)
    for (const name of ['nothing', '..%2F..%2FREADME', 'nothing.md', '..%2F..%2FREADME.md', 'service.txt'])
      expect((await call(`GET /docs/guides/${name}`, { key: null })).status).toBe(404)
  })

  it('are served as Markdown with .md after the name', async () => {
    const { call } = await openSimulator()
    for (const name of guides) {
      const { status, headers, text } = await call(`GET /docs/guides/${name}.md`, { key: null })
      expect([name, status]).toEqual([name, 200])
      expect(headers.get('content-type')).toBe('text/markdown; charset=utf-8')
      expect(text).toBe(await readFile(join(root, `src/guides/${name}.md`), 'utf8'))
    }
  })

  it.runIf(hasBrowser)(`fit a phone and have no accessibility barrier, ${inBrowser}`, async () => {
    const { url } = await openSimulator()
    const page = await openPhone(`${url}/docs/guides`)
    // A long one shows every kind of element; the soak looks at all.
    for (const name of isSoak ? guides : ['webhooks']) {
      await page.goto(`${url}/docs/guides/${name}`)
      expect([name, await barriers(page)]).toEqual([name, []])
      expect([name, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([name, 360])
    }
  })
})
