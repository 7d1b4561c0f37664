import { h, type Tree } from '../tree.ts'
import { choiceView } from './choice.ts'
import type { CheckScene } from './scene.ts'

const ratings = [1, 2, 3, 4, 5]

/** How it was: asked once this guest has paid, or all is paid. */
export function ratingView({ check, index, model, actions }: CheckScene): Tree {
  const isAsked =
    check.payments.some(({ mine }) => mine) || (check.paid_cents > 0 && check.balance_cents <= 0)
  if (!isAsked) return null
  if (model.rated.includes(check.external_id))
    return h('section', { class: 'sheet' }, h('h2', { tabindex: -1 }, 'Thank you for your rating'))
  return h(
    'section',
    { class: 'sheet' },
    h(
      'fieldset',
      { class: 'stars' },
      h('legend', {}, 'How was it?'),
      ratings.map((rating) =>
        choiceView({
          group: `rating-${index}`,
          value: String(rating),
          checked: model.rating === rating,
          text: rating <= model.rating ? '★' : '☆',
          label: rating === 1 ? '1 star' : `${rating} stars`,
          choose: () => actions.set({ rating }),
        }),
      ),
    ),
    h(
      'label',
      { class: 'typed' },
      h('span', {}, 'Anything to add?'),
      h('textarea', {
        rows: 3,
        maxlength: 1000,
        value: model.comment,
        oninput: (comment) => actions.set({ comment }),
      }),
    ),
    h(
      'button',
      {
        type: 'button',
        class: 'main quietly',
        'aria-disabled': model.rating > 0 && !model.busy ? null : 'true',
        onclick: () => model.rating > 0 && !model.busy && actions.rate(check),
      },
      model.rating > 0 ? 'Send rating' : 'Choose your stars',
    ),
  )
}
