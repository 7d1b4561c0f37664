import type { TableView } from '../../model/guest-table/view.ts'
import { amountOf, ownClaims, tipOf } from '../amounts.ts'
import { initialModel, type Actions, type PageModel } from '../model.ts'
import { digitsOf } from '../money.ts'
import { tableView } from '../view/table.ts'
import { Refused } from './call.ts'
import { draw } from './draw.ts'
import { listen } from './listen.ts'
import { keep, recall } from './memory.ts'
import { createRequests } from './requests.ts'
import { problemOf } from './words.ts'

const root = document.getElementById('page')
const memory = recall()
const service = createRequests(memory.id)
let model: PageModel | undefined

function set(changes: Partial<PageModel>): void {
  if (model === undefined || root === null) return
  model = { ...model, ...changes }
  draw(tableView(model, actions), root)
}

let reading: Promise<void> | undefined
let isStale = false

/** Reads the table anew; what changes meanwhile is read after it, once. */
function refresh(): Promise<void> {
  isStale = true
  reading ??= read().finally(() => (reading = undefined))
  return reading
}

async function read(): Promise<void> {
  while (isStale) {
    isStale = false
    try {
      show(await service.state())
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
    root?.replaceChildren()
    model = {
      ...initialModel(view, navigator.language),
      interactive: true,
      name: memory.name,
      rated: memory.rated,
    }
    return set({})
  }
  const isNews = JSON.stringify(view) !== JSON.stringify(model.view)
  set({ view, ...(isNews && { announcement: newsOf(model.view, view) }) })
}

/** In a few words, since all of it would be read out at each change. */
function newsOf(before: TableView, after: TableView): string {
  const left = ({ checks }: TableView) => checks.reduce((sum, { balance_cents }) => sum + balance_cents, 0)
  return left(before) === left(after) ? 'The table has changed.' : 'The check has changed.'
}

/** One thing at a time; whatever comes of it, the page then shows what is. */
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
  // The button that was pressed may be gone, and the keyboard would begin anew at the top.
  if (document.activeElement === document.body) item?.querySelector('button')?.focus()
}

const nameOrNull = () => (memory.name.trim() === '' ? null : memory.name.trim())

const actions: Actions = {
  set,
  rename(name) {
    memory.name = name
    keep(memory)
    set({ name })
  },
  claim(check, external_id, quantity) {
    const items = [{ external_id, quantity }]
    const body = { external_check_id: check.external_id, guest_name: nameOrNull(), items }
    void act(() => service.claim(body), { announcement: 'Taken.' })
  },
  release(id) {
    void act(() => service.release(id), { announcement: 'Given back.' })
  },
  pay(check) {
    if (model === undefined || model.busy) return
    const amount = amountOf(check, model)
    const tip_cents = tipOf(model.tip, amount, digitsOf(model.view.location.currency)) ?? 0
    const what =
      model.mode === 'mine'
        ? { claim_ids: ownClaims(check).map(({ id }) => id), expected_cents: amount }
        : { amount_cents: amount }
    const body = {
      external_check_id: check.external_id,
      guest_name: nameOrNull(),
      card: model.card,
      tip_cents,
      ...what,
    }
    set({ paying: check.external_id })
    void act(() => service.pay(body), { announcement: 'Paid. Your receipt is on the page.' }).then(() => {
      if (model?.problem === null) [...document.querySelectorAll<HTMLElement>('.receipt h2')].at(-1)?.focus()
    })
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
      await service.rate(body)
      memory.rated.push(external_check_id)
      keep(memory)
      set({ rated: [...memory.rated], rating: 0, comment: '' })
    }
    void act(rate, { announcement: 'Thank you for your rating.' })
  },
  dismiss: () => set({ problem: null }),
}

listen({
  url: `${location.pathname}/stream`,
  types: ['change'],
  onMessage: () => void refresh(),
  onReturn: () => void refresh(),
  onConnection: (connection) => set({ connection }),
})
