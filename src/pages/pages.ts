import type { TableView } from '../model/guest-table/view.ts'
import type { Asset } from './assets.ts'

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
    async reference(): Promise<string> {
      const { renderer, assets } = await loaded()
      return renderer.reference(assets.reference)
    },
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
