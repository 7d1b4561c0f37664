import { documentOf, type AssetPaths } from './render.ts'
import { h } from './tree.ts'

/** The inspector as the service writes it: the same for everybody, since all that it shows is asked for by its script. */
export function renderInspector(assets: AssetPaths): string {
  return documentOf('Tabwire', assets, [
    h('div', { id: 'page' }),
    h(
      'noscript',
      {},
      h('p', {}, 'The inspector needs JavaScript. Everything it shows is in tabwire --help, too.'),
    ),
    h('script', { type: 'module', src: assets.script }),
  ])
}
