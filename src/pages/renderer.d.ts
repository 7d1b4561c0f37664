import type { TableView } from '../model/guest-table/view.ts'

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
  /** The API reference: a component that loads the OpenAPI document. */
  reference(assets: AssetPaths): string
}

export const renderer: Renderer
