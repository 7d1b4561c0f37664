import { render } from 'preact'
import type { TableView } from '../../../model/guest-table/view.ts'
import { type Actions, initialModel, type PageModel } from '../../guest/model.ts'
import { digitsOf } from '../../../model/text/money.ts'
import { amountOf, ownClaims, tipOf } from '../../guest/money.ts'
import { Table } from '../../guest/view/table.tsx'
import { Refused } from '../call.ts'
import { createApi, problemOf, subscribe } from './api.ts'
import { loadGuest, saveGuest } from './saved-guest.ts'

const root = document.getElementById('page')
const guest = loadGuest()
const api = createApi(guest.id)
/** Undefined until the first read; until then the page shows the service's rendering. */
let model: PageModel | undefined

/** Changes the model and renders it; preact keeps the focus and the typed text. */
function set(changes: Partial<PageModel>): void {
  if (model === undefined || root === null) return
  model = { ...model, ...changes }
  render(<Table model={model} actions={actions} />, root)
}

let reading: Promise<void> | undefined
let isStale = false

/** Reads the table again. Calls during a read lead to one more read. */
function refresh(): Promise<void> {
  isStale = true
  reading ??= read().finally(() => (reading = undefined))
  return reading
}

async function read(): Promise<void> {
  while (isStale) {
    isStale = false
    try {
      show(await api.state())
    } catch (error) {
      const isGone = error instanceof Refused && error.code === 'not_found'
      set(
        isGone
          ? { problem: problemOf(error) }
          : { connection: navigator.onLine ? 'reconnecting' : 'offline' },
      )
    }
  }
}

function show(view: TableView): void {
  if (model === undefined) {
    model = {
      ...initialModel(view, navigator.language),
      interactive: true,
      name: guest.name,
      rated: guest.rated,
    }
    return set({})
  }
  const hasChanged = JSON.stringify(view) !== JSON.stringify(model.view)
  set({ view, ...(hasChanged && { announcement: announcementOf(model.view, view) }) })
}

/** Words a change for screen readers; short, because it is read out at every change. */
function announcementOf(before: TableView, after: TableView): string {
  const left = ({ checks }: TableView) => checks.reduce((sum, { balance_cents }) => sum + balance_cents, 0)
  return left(before) === left(after) ? 'The table has been updated.' : 'The check has been updated.'
}

/** Sends one request at a time, then reads the table and shows the result. */
async function act(work: () => Promise<unknown>, done: Partial<PageModel>): Promise<void> {
  if (model === undefined || model.busy) return
  const item = document.activeElement?.closest('.item')
  set({ busy: true, problem: null })
  let outcome: Partial<PageModel> = done
  try {
    await work()
  } catch (error) {
    outcome = { problem: problemOf(error) }
  }
  await refresh()
  set({ busy: false, paying: null, ...outcome })
  // The pressed button may be gone; without a focus, the next Tab would start at the top of the page.
  if (document.activeElement === document.body) item?.querySelector('button')?.focus()
}

const nameOrNull = () => (guest.name.trim() === '' ? null : guest.name.trim())

const actions: Actions = {
  set,
  rename(name) {
    guest.name = name
    saveGuest(guest)
    set({ name })
  },
  claim(check, external_id, quantity) {
    const items = [{ external_id, quantity }]
    const body = { external_check_id: check.external_id, guest_name: nameOrNull(), items }
    void act(() => api.claim(body), { announcement: 'Added to your items.' })
  },
  release(id) {
    void act(() => api.release(id), { announcement: 'Removed from your items.' })
  },
  pay(check) {
    if (model === undefined || model.busy) return
    const amount = amountOf(check, model)
    const tip_cents = tipOf(model.tip, amount, digitsOf(model.view.location.currency)) ?? 0
    const paidFor =
      model.mode === 'mine'
        ? { claim_ids: ownClaims(check).map(({ id }) => id), expected_cents: amount }
        : { amount_cents: amount }
    const body = {
      external_check_id: check.external_id,
      guest_name: nameOrNull(),
      card: model.card,
      tip_cents,
      ...paidFor,
    }
    set({ paying: check.external_id })
    void act(() => api.pay(body), { announcement: 'Payment complete. Your receipt is on the page.' }).then(
      () => {
        if (model?.problem === null)
          [...document.querySelectorAll<HTMLElement>('.receipt h2')].at(-1)?.focus()
      },
    )
  },
  rate(check) {
    if (model === undefined) return
    const { rating, comment } = model
    const external_check_id = check.external_id
    const body = {
      external_check_id,
      guest_name: nameOrNull(),
      rating,
      comment: comment === '' ? null : comment,
    }
    const rate = async () => {
      await api.rate(body)
      guest.rated.push(external_check_id)
      saveGuest(guest)
      set({ rated: [...guest.rated], rating: 0, comment: '' })
    }
    void act(rate, { announcement: 'Thank you for your rating.' })
  },
  dismiss: () => set({ problem: null }),
}

subscribe({
  url: `${location.pathname}/stream`,
  types: ['change'],
  onMessage: () => void refresh(),
  onReturn: () => void refresh(),
  onConnection: (connection) => set({ connection }),
})
