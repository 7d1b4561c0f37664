import { render } from 'preact'
import type { TableCheck, TableView } from '../../../model/guests/guest-table.ts'
import {
  type Actions,
  firstChoices,
  initialModel,
  type Notice,
  openIn,
  type PageModel,
  ratingKey,
} from '../../guest/model.ts'
import { dueOf, ownClaims, leftOf } from '../../guest/money.ts'
import { Table } from '../../guest/view/table.tsx'
import { codeOf, createApi, problemOf, subscribe } from './api.ts'
import { loadGuest, saveGuest } from './saved-guest.ts'
import { isolated, moneyIn, validLanguage } from '../../../model/text/money.ts'

const root = document.getElementById('page')
const guest = loadGuest()
const api = createApi(guest.id)
/** Undefined until the first read; until then the page shows the service's rendering. */
let model: PageModel | undefined
/** Ratings that a browser remembers, the newest ones. */
const MOST_RATED = 100
const NOT_PAID_AND_GONE = 'You have not paid. This check is no longer at your table.'
const NO_TABLE = 'This table is gone. Please scan the code at your table again.'
/** The table before the connection broke. */
let viewBeforeBreak: TableView | undefined

/** Changes the model and renders it; preact keeps the focus and the typed text. */
function set(changes: Partial<PageModel>): void {
  if (model === undefined || root === null) return
  model = { ...model, ...changes }
  render(<Table model={model} actions={actions} />, root)
}

let reading: Promise<void> | undefined
let isStale = false
let retry: ReturnType<typeof setTimeout> | undefined

/** Reads the table again. Calls during a read lead to one more read. */
function refresh(): Promise<void> {
  isStale = true
  reading ??= read().finally(() => (reading = undefined))
  return reading
}

async function read(): Promise<void> {
  while (isStale) {
    isStale = false
    let view: TableView
    try {
      view = await api.state()
    } catch (error) {
      if (codeOf(error) === 'not_found') return set({ notice: { text: NO_TABLE, isProblem: true } })
      viewBeforeBreak ??= model?.view
      set({ connection: navigator.onLine ? 'reconnecting' : 'offline' })
      clearTimeout(retry)
      retry = setTimeout(() => void refresh(), 2_000)
      continue
    }
    show(view)
  }
}

function show(view: TableView): void {
  if (model === undefined) {
    const { name, rated } = guest
    model = { ...initialModel(view, validLanguage(navigator.language)), interactive: true, name, rated }
    return set({})
  }
  const { language, open } = model
  const changes = changesOf(model.view, view, language)
  const back = viewBeforeBreak && changesOf(viewBeforeBreak, view, language)
  viewBeforeBreak = undefined
  const isKnown = view.checks.some(({ external_id }) => external_id === open)
  const isOpened = !isKnown && (open !== null || openIn(model.view) === null)
  // While a payment is in flight, its result says what happened.
  const isLost = isOpened && model.form && !model.busy
  const hasPaid = view.checks.some((check) => paidBy(check).length > ownPayments(check).length)
  const hasChanged = JSON.stringify(view) !== JSON.stringify(model.view)
  const isOther = model.form && !model.busy && isOtherAmount(model, { ...model, view })
  set({
    view,
    connection: 'live',
    ...(isOther && { changed: true }),
    ...(isOpened && { ...firstChoices, open: openIn(view) }),
    ...(hasPaid && { ...firstChoices, open: null }),
    ...(hasChanged && { announcement: changes === '' ? 'The table has been updated.' : changes }),
    ...(back && { notice: { text: `You are back online. ${back}`, isProblem: false } }),
    ...(isLost && { notice: { text: NOT_PAID_AND_GONE, isProblem: true } }),
  })
  // The form has left with the focus.
  if (isLost && document.activeElement === document.body)
    document.querySelector<HTMLElement>('.notice button')?.focus()
  onRead()
}

/** Returns true when the amount to pay of the open check differs, or what it is for. */
function isOtherAmount(before: PageModel, after: PageModel): boolean {
  const [one, other] = [before, after].map((state) => {
    const check = state.view.checks.find(({ external_id }) => external_id === state.open)
    return check && dueOf(check, state)
  })
  return one?.sum !== other?.sum || one?.mode !== other?.mode
}

/** Called after each read. */
let onRead = () => {}

/**
 * Sends one request at a time, then reads the table and shows the result. Returns true on success.
 * @param isDone Whether the table shows the result: the answer to the request may be lost.
 */
async function act(
  work: () => Promise<unknown>,
  done: Partial<PageModel>,
  explain: (error: unknown, before: TableView) => Notice,
  isDone: () => boolean = () => false,
): Promise<boolean> {
  if (model === undefined || model.busy) return false
  const before = model.view
  const item = document.activeElement?.closest('.item')
  set({ busy: true, notice: null })
  let failure: unknown
  try {
    await Promise.race([work(), new Promise<void>((resolve) => (onRead = () => isDone() && resolve()))])
  } catch (error) {
    failure = error
  }
  await refresh()
  onRead = () => {}
  const hasFailed = failure !== undefined && !isDone()
  set({ busy: false, paying: false, ...(hasFailed ? { notice: explain(failure, before) } : done) })

  // The pressed button may be gone; without a focus, the next Tab would start at the top of the page.
  if (document.activeElement === document.body) item?.querySelector<HTMLElement>('button, .clash')?.focus()
  return !hasFailed
}

const problem = (error: unknown): Notice => ({ text: problemOf(error), isProblem: true })

/** Names the guest who was faster, at the item, for some seconds. */
function clashAt({ external_id }: TableCheck, itemId: string) {
  return (error: unknown): Notice => {
    const check = model?.view.checks.find((one) => one.external_id === external_id)
    const name = check?.items.find((item) => item.external_id === itemId)?.name
    if (check === undefined || name === undefined || codeOf(error) === 'unreachable') return problem(error)
    const other = check.claims.findLast(
      ({ mine, items }) => !mine && items.some((item) => item.external_id === itemId),
    )
    let text = problemOf(error)
    // The claim was paid meanwhile, in another tab or by a guest who paid the whole check.
    if (codeOf(error) === 'claim_not_active') text = `${isolated(name)} is already paid.`
    if (codeOf(error) === 'not_claimable' && check.status === 'closed')
      text = 'This check was closed. You can still pay the rest.'
    else if (codeOf(error) === 'not_claimable' && other !== undefined)
      text = `${isolated(other.guest_name ?? 'Another guest')} just took the ${isolated(name)}.`
    const notice = { text, isProblem: true, at: [external_id, itemId] } as const
    setTimeout(() => model?.notice === notice && set({ notice: null }), 8_000)
    set({ announcement: text })
    return notice
  }
}

const nameOrNull = () => (guest.name.trim() === '' ? null : guest.name.trim())

const paidBy = ({ payments }: Pick<TableCheck, 'payments'>) => payments.filter(({ mine }) => mine)

/** Returns the guest's payments of a check, as the page shows it. */
const ownPayments = ({ external_id }: TableCheck) =>
  paidBy(model?.view.checks.find((check) => check.external_id === external_id) ?? { payments: [] })

const actions: Actions = {
  set: (changes) => set({ notice: null, ...changes }),
  go(changes, selector) {
    actions.set(changes)

    const target = document.querySelector<HTMLElement>(selector)
    target?.focus({ preventScroll: true })
    target?.scrollIntoView()
  },
  rename(name) {
    guest.name = name
    saveGuest({ id: guest.id, name })
    set({ name })
  },
  claim(check, external_id, quantity) {
    const items = [{ external_id, quantity }]
    const body = { external_check_id: check.external_id, guest_name: nameOrNull(), items }
    void act(
      () => api.claim(body),
      { announcement: 'Added to your items.', mode: null },
      clashAt(check, external_id),
    )
  },
  release(check, itemId, id) {
    const mode = model?.form === true ? 'mine' : null
    void act(
      () => api.release(id),
      { announcement: 'Removed from your items.', mode },
      clashAt(check, itemId),
    )
  },
  pay(check) {
    if (model === undefined || model.busy) return
    const { mode, amount, tip } = dueOf(check, model)
    const payment_number = ownPayments(check).length + 1
    const body = {
      external_check_id: check.external_id,
      guest_name: nameOrNull(),
      card: model.card,
      tip_cents: tip ?? 0,
      payment_number,
      ...(mode === 'mine'
        ? { claim_ids: ownClaims(check).map(({ id }) => id), expected_cents: amount }
        : { amount_cents: amount }),
    }
    set({ paying: true })
    const paid = act(
      () => api.pay(body),
      { announcement: 'Payment complete. Your receipt is on the page.' },
      (error, before) => {
        const changes = model === undefined ? '' : changesOf(before, model.view, model.language)
        const failure =
          codeOf(error) === 'unreachable'
            ? 'No response from the service. Try again: a payment is made only once.'
            : codeOf(error) === 'not_found'
              ? NOT_PAID_AND_GONE
              : problemOf(error)
        return { text: `${changes} ${failure}`.trim(), isProblem: true }
      },
      () => ownPayments(check).length >= payment_number,
    )
    void paid.then((isPaid) => isPaid && actions.go({}, `#receipt-${ownPayments(check).at(-1)?.id}`))
  },
  rate(check) {
    if (model === undefined) return
    const { rating, comment } = model
    const body = {
      external_check_id: check.external_id,
      guest_name: nameOrNull(),
      rating,
      comment: comment === '' ? null : comment,
    }
    const rate = async () => {
      await api.rate(body)
      // Another tab may have rated meanwhile.
      const rated = [...new Set([...guest.rated, ...loadGuest().rated, ratingKey(check)])]
      guest.rated = rated.slice(-MOST_RATED)
      saveGuest({ id: guest.id, rated: guest.rated })
      set({ rated: guest.rated, rates: null, rating: 0, comment: '' })
    }
    const explain = (error: unknown): Notice =>
      codeOf(error) === 'unreachable'
        ? { text: 'No response from the service. Your rating may have been sent.', isProblem: true }
        : problem(error)
    const rated = act(rate, { announcement: 'Thank you for your rating.' }, explain)
    const index = model.view.checks.findIndex(({ external_id }) => external_id === check.external_id)
    void rated.then((isRated) => isRated && actions.go({}, `#rated-${index}`))
  },
}

subscribe(() => void refresh())

/** Words the payments and other changes between two states of the table; empty when nothing changed. */
function changesOf(before: TableView, after: TableView, language: string | undefined): string {
  const money = moneyIn(after.location.currency, language)
  const sentences = after.checks.flatMap((check) => {
    const old = before.checks.find(({ external_id }) => external_id === check.external_id)
    if (old === undefined) return ['There is a new check.']
    const paid = check.payments
      .slice(old.payments.length)
      .map(
        ({ mine, guest_name, amount_cents, tip_cents }) =>
          `${mine ? 'You' : isolated(guest_name ?? 'Another guest')} paid ${money(amount_cents + (tip_cents ?? 0))}.`,
      )
    const hasChanged =
      JSON.stringify([old.items, old.totals, old.status]) !==
      JSON.stringify([check.items, check.totals, check.status])
    if (old.balance_cents === check.balance_cents && paid.length === 0)
      return hasChanged ? ['The check has changed.'] : []
    if (paid.length === 0) paid.push('The check has changed.')
    if (check.balance_cents > 0) paid.push(`${money(leftOf(check))} is left.`)
    else paid.push(check.paid_cents > 0 ? 'The check is fully paid.' : 'Nothing is left to pay.')
    return paid
  })
  if (after.checks.length < before.checks.length) sentences.push('A check has left the table.')
  return sentences.join(' ')
}
