import type { Actions, PageModel } from '../model.ts'
import { moneyIn } from '../../../model/text/money.ts'
import { ownClaims, pricesOf } from '../money.ts'
import { Check } from './check.tsx'
import type { PartProps } from './elements.tsx'

/** The guest page of a table (contract section 7); the service and the browser render the same component. */
export function Table({ model, actions }: { model: PageModel; actions: Actions }) {
  const props = { model, actions, money: moneyIn(model.view.location.currency, model.language) }
  const { checks } = model.view
  return (
    <>
      <Header {...props} />
      {model.interactive && <Notices {...props} />}
      <main class="checks" id="checks">
        {checks.length === 0 ? (
          <Empty />
        ) : (
          checks.map((check, index) => (
            <Check key={check.external_id} {...props} check={check} index={index} />
          ))
        )}
      </main>
      {model.interactive && <RunningTotal {...props} />}
    </>
  )
}

function Header({ model, actions }: PartProps) {
  const { location, table } = model.view
  return (
    <header class="top">
      <div>
        <p class="place">{location.name}</p>
        <h1>{`Table ${table.number}`}</h1>
      </div>
      {model.interactive && (
        <label class="name">
          <span>Your name</span>
          <input
            type="text"
            value={model.name}
            maxLength={40}
            autocomplete="given-name"
            placeholder="Optional, shows who had what"
            onInput={(event) => actions.rename(event.currentTarget.value)}
          />
        </label>
      )}
    </header>
  )
}

/** Connection state, the last error and announcements. Screen readers skip live regions that are added with their text. */
function Notices({ model: { announcement, connection, problem }, actions }: PartProps) {
  return (
    <div class="notices">
      <p class="spoken" role="status">
        {announcement}
      </p>
      <div role="status">
        {connection !== 'live' && (
          <p class="notice">
            {connection === 'offline'
              ? 'You are offline. This page may be out of date.'
              : 'Reconnecting… This page may be out of date.'}
          </p>
        )}
      </div>
      <div role="alert">
        {problem !== null && (
          <div class="notice problem">
            <p>{problem}</p>
            <button type="button" class="plain" onClick={actions.dismiss}>
              OK
            </button>
          </div>
        )}
      </div>
    </div>
  )
}

function Empty() {
  return (
    <section class="sheet blank">
      <h2>No check yet</h2>
      <p>Your check appears here after you order. You do not need to reload the page.</p>
    </section>
  )
}

/** The guest's unpaid items so far, fixed at the edge of the screen. */
function RunningTotal({ model, money }: PartProps) {
  const index = model.view.checks.findIndex((check) => ownClaims(check).length > 0)
  const check = model.view.checks[index]
  if (check === undefined) return null
  const claims = ownClaims(check)
  const amount = claims.reduce((sum, { amount_cents }) => sum + amount_cents, 0)
  const rest = amount - pricesOf(claims)
  return (
    <aside class="running" aria-label="Your share">
      <p>
        <strong class="amount">{money(amount)}</strong>
        <span class="quiet">
          {rest === 0 ? 'your share' : `your share, including ${money(rest)} tax and charges`}
        </span>
      </p>
      <a href={`#pay-${index}`} class="main">
        Pay
      </a>
    </aside>
  )
}
