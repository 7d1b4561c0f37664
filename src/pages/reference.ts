import { documentOf } from './render.ts'
import { h } from './tree.ts'

/** Where the files of the reference page are. */
export interface ReferencePaths {
  explorer: string
  style: string
}

/** The page on which people read the OpenAPI document: a frame, which the explorer fills. */
export function renderReference({ explorer, style }: ReferencePaths): string {
  return documentOf('API reference · Tabwire', { style }, [
    h('noscript', {}, h('p', {}, 'This page needs JavaScript. The document itself is at /openapi.json.')),
    h('openapi-explorer', {
      'spec-url': '/openapi.json',
      'schema-expand-level': 2,
      collapse: 'true',
      'hide-server-selection': 'true',
    }),
    h('script', { defer: true, src: explorer }),
  ])
}
