import { documentOf, type AssetPaths } from './render.ts'
import { h } from './tree.ts'

/** The page on which people read the OpenAPI document: a frame, which the explorer fills. */
export function renderReference(assets: AssetPaths): string {
  return documentOf('API reference · Tabwire', assets, [
    h('noscript', {}, h('p', {}, 'This page needs JavaScript. The document itself is at /openapi.json.')),
    h('openapi-explorer', {
      'spec-url': '/openapi.json',
      'schema-expand-level': 2,
      collapse: 'true',
      'hide-server-selection': 'true',
    }),
    h('script', { defer: true, src: assets.script }),
  ])
}
