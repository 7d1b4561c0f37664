import { h, type Tree } from '../tree.ts'
import type { Actions, PageModel } from '../model.ts'
import { checkView } from './check.ts'
import { noticesView } from './notices.ts'
import { runningTotalView } from './running-total.ts'
import { sceneOf, type Scene } from './scene.ts'

/** The whole page of a table (contract section 7): pure, so that the service and the browser draw the same. */
export function tableView(model: PageModel, actions: Actions): Tree {
  const scene = sceneOf(model, actions)
  const { checks } = model.view
  return [
    headerView(scene),
    noticesView(scene),
    h(
      'main',
      { class: 'checks', id: 'checks' },
      checks.length === 0 ? emptyView() : checks.map((check, index) => checkView({ ...scene, check, index })),
    ),
    model.interactive && runningTotalView(scene),
  ]
}

function headerView({ model, actions }: Scene): Tree {
  const { location, table } = model.view
  return h(
    'header',
    { class: 'top' },
    h('div', {}, h('p', { class: 'place' }, location.name), h('h1', {}, `Table ${table.number}`)),
    model.interactive &&
      h(
        'label',
        { class: 'name' },
        h('span', {}, 'Your name'),
        h('input', {
          type: 'text',
          value: model.name,
          maxlength: 40,
          autocomplete: 'given-name',
          placeholder: 'So that others know',
          oninput: actions.rename,
        }),
      ),
  )
}

function emptyView(): Tree {
  return h(
    'section',
    { class: 'sheet blank' },
    h('h2', {}, 'Nothing on the table yet'),
    h('p', {}, 'Your check appears here as soon as you have ordered. There is no need to reload.'),
  )
}
