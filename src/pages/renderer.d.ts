import type { TableView } from '../model/guests/guest-table.ts'
import type { Guide } from '../package-file.ts'
import type { OpenApi } from './docs/openapi.ts'

/** URL paths of a page's script and stylesheet. */
export interface AssetPaths {
  script: string
  style: string
}

/** Writes whole HTML documents. */
export interface Renderer {
  /** The guest page of a table: readable at once, interactive once its script runs. */
  table(view: TableView, assets: AssetPaths, language: string | undefined): string
  /** The page for an address that belongs to no table. */
  noTable(assets: AssetPaths): string
  /** The inspector's empty document; its script reads and shows all data. */
  inspector(assets: AssetPaths): string
  /** The API reference for an OpenAPI document. `style` is the URL path of the stylesheet. */
  reference(document: OpenApi, style: string): string
  guides(guides: readonly Guide[], style: string): string
  /** A guide; links to files outside of the guides lead to `elsewhere`, the URL of the repository's files. */
  guide(guide: Guide, guides: readonly Guide[], elsewhere: string, style: string): string
}

export const renderer: Renderer
