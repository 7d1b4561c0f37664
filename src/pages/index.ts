import type { TableView } from '../model/guest-table/view.ts'
import { loadAssets, type Asset, type Assets } from './assets.ts'
import { renderInspector } from './inspector.ts'
import { renderReference } from './reference.ts'
import { renderNoTable, renderTablePage } from './render.ts'

/** The pages that a browser sees, as the service writes them. Their files are read when the first one is asked for. */
export function createPages() {
  let loading: Promise<Assets> | undefined
  const assets = () => (loading ??= loadAssets())
  return {
    async table(view: TableView, language: string | undefined): Promise<string> {
      return renderTablePage(view, (await assets()).guest, language)
    },
    async noTable(): Promise<string> {
      return renderNoTable((await assets()).guest)
    },
    async inspector(): Promise<string> {
      return renderInspector((await assets()).inspector)
    },
    async reference(): Promise<string> {
      return renderReference((await assets()).reference)
    },
    async asset(name: string): Promise<Asset | undefined> {
      return (await assets()).files.get(name)
    },
  }
}
