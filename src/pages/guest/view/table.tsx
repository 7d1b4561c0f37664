import type { Actions, PageModel } from '../model.ts'
import { moneyIn } from '../../../model/text/money.ts'
import { Check } from './check.tsx'
import { Button, type PartProps } from './elements.tsx'

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
          <section class="sheet blank">
            <h2>No check yet</h2>
            <p>Your check appears here after you order. You do not need to reload the page.</p>
          </section>
        ) : (
          checks.map((check, index) => (
            <Check key={check.external_id} {...props} check={check} index={index} />
          ))
        )}
      </main>
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

/** Connection state, the last message and announcements. Screen readers skip live regions that are added with their text. */
function Notices({ model: { announcement, connection, notice }, actions }: PartProps) {
  return (
    <div class="notices">
      <p class="spoken" role="status">
        {announcement}
      </p>
      <div role="status" id="connection">
        {connection !== 'live' && (
          <p class="notice">
            {connection === 'offline'
              ? 'You are offline. You can pay once you are online again.'
              : 'Reconnecting… You can pay once the connection is back.'}
          </p>
        )}
      </div>
      <div role="alert">
        {notice !== null && notice.at === undefined && (
          <div class={`notice${notice.isProblem ? ' problem' : ''}`}>
            <p>{notice.text}</p>
            <Button kind="plain" text="OK" press={() => actions.set({})} />
          </div>
        )}
      </div>
    </div>
  )
}
