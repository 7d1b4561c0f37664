import { readFile } from 'node:fs/promises'
import { packageFile, readGuides } from '../package-file.ts'
import type { TableView } from '../model/guests/guest-table.ts'
import type { Asset } from './assets.ts'
import type { OpenApi } from './docs/openapi.ts'

/** Where guides link to files of the repository that the package does not have. */
const REPOSITORY_FILES = 'https://github.com/tabwire/tabwire/blob/main'

/** Creates the pages that the service writes; renderer and assets load with the first request for one of them. */
export function createPages() {
  let loading: ReturnType<typeof load> | undefined
  const loaded = () => (loading ??= load())
  return {
    async table(view: TableView, language: string | undefined): Promise<string> {
      const { renderer, assets } = await loaded()
      return renderer.table(view, assets.guest, language)
    },
    async noTable(): Promise<string> {
      const { renderer, assets } = await loaded()
      return renderer.noTable(assets.guest)
    },
    async inspector(): Promise<string> {
      const { renderer, assets } = await loaded()
      return renderer.inspector(assets.inspector)
    },
    async reference(document: object): Promise<string> {
      const { renderer, assets } = await loaded()
      return renderer.reference(document as OpenApi, assets.docs)
    },
    /** Returns a guide as a page, the list of guides without a name, and `undefined` for an unknown one. */
    async guide(name: string | undefined): Promise<string | undefined> {
      const { renderer, assets } = await loaded()
      const guides = await readGuides()
      if (name === undefined) return renderer.guides(guides, assets.docs)
      const guide = guides.find((one) => one.name === name)
      return guide && renderer.guide(guide, guides, REPOSITORY_FILES, assets.docs)
    },
    /** Returns the Markdown of a guide, and `undefined` for an unknown one. */
    async guideText(name: string): Promise<string | undefined> {
      return (await readGuides()).find((one) => one.name === name)?.text
    },
    llms: () => readFile(packageFile('fixtures/llms.txt'), 'utf8'),
    async asset(name: string): Promise<Asset | undefined> {
      const { assets } = await loaded()
      return assets.files.get(name)
    },
  }
}

async function load() {
  const [{ renderer }, { loadAssets }] = await Promise.all([import('./renderer.js'), import('./assets.ts')])
  return { renderer, assets: await loadAssets() }
}
