import type { TableView } from '../model/guest-table/view.ts'
import { htmlOf } from './html.ts'
import { initialModel, noActions } from './model.ts'
import { h, type Tree } from './tree.ts'
import { tableView } from './view/table.ts'

/** Where the page's own script and style are. */
export interface AssetPaths {
  script: string
  style: string
}

/** The page as the service writes it: all of the check can be read, and a script makes it do more. */
export function renderTablePage(view: TableView, assets: AssetPaths, language: string | undefined): string {
  const page = tableView(initialModel(view, language), noActions)
  const title = `Table ${view.table.number} · ${view.location.name}`
  return documentOf(title, assets, [
    h('div', { id: 'page' }, page),
    h(
      'noscript',
      {},
      h('p', { class: 'note' }, 'This is your check. To take items and pay, allow JavaScript.'),
    ),
    h('script', { type: 'module', src: assets.script }),
  ])
}

/** For an address that is no table's: it says no more than that. */
export function renderNoTable(assets: AssetPaths): string {
  return documentOf('No table here', assets, [
    h(
      'main',
      { class: 'sheet blank' },
      h('h1', {}, 'There is no table here'),
      h(
        'p',
        {},
        'This address is not complete, or not good any more. Please scan the QR code on your table again.',
      ),
    ),
  ])
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%23205c4b'/%3E%3Cpath d='M9 12h14M9 17h14M9 22h8' stroke='%23fff' stroke-width='2.5' stroke-linecap='round'/%3E%3C/svg%3E"

/** A whole document, with a style of its own. */
export function documentOf(title: string, { style }: AssetPaths, body: readonly Tree[]): string {
  const document = h(
    'html',
    { lang: 'en' },
    h(
      'head',
      {},
      h('meta', { charset: 'utf-8' }),
      h('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
      h('meta', { name: 'color-scheme', content: 'light dark' }),
      h('meta', { name: 'robots', content: 'noindex' }),
      h('title', {}, title),
      h('link', { rel: 'icon', href: icon }),
      h('link', { rel: 'stylesheet', href: style }),
    ),
    h('body', {}, body),
  )
  return `<!doctype html>\n${htmlOf(document)}\n`
}
