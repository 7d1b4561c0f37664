import { digitsOf } from '../../../model/text/money.ts'
import { firstChoices, type PayMode } from '../model.ts'
import { amountOf, type Due, dueOf, ownPrices } from '../money.ts'
import { Button, type CheckProps, Choice, isBlocked, Line } from './elements.tsx'

/** The amount to pay and the ways to pay it, at the edge of a small screen; the form replaces it. */
export function Bar({ check, model, actions, money }: CheckProps) {
  const { mode, sum, tip = 0 } = dueOf(check, model)
  const rest = mode === 'mine' ? sum - tip - ownPrices(check) : 0
  const isClosed = check.status === 'closed'
  const details = [
    mode !== 'all' && 'Your share',
    rest > 0 && `including ${money(rest)} tax and charges`,
    // Discounts lower a share, and so do payments of others that leave less to pay.
    rest < 0 && `after adjustments of ${money(rest)}`,
    tip > 0 && `including ${money(tip)} tip`,
  ].filter(Boolean)
  return (
    <section class="bar" aria-label="Payment">
      {details.length > 0 && <p class="quiet">{details.join(', ')}</p>}
      {!isClosed && (
        <Button
          kind="plain"
          text="Split"
          press={() => actions.go({ form: true, mode: mode === 'all' ? 'even' : mode }, '.pay h2')}
        />
      )}
      <Button
        kind="main"
        text={`Pay ${isClosed ? 'the rest: ' : ''}${money(sum)}`}
        disabled={isBlocked(model)}
        press={() => actions.go({ form: true }, '.pay h2')}
      />
    </section>
  )
}

/** The payment form: amount, tip, card and the resulting total. */
export function Pay(props: CheckProps) {
  const { check, index, model, actions, money } = props
  const due = dueOf(check, model)
  const { mode, amount, tip, sum } = due
  const isUnselected = mode === 'mine' && amount === 0
  const back = () =>
    isUnselected ? actions.go(firstChoices, '.items button') : actions.go({ form: false }, '.bar .main')
  return (
    <section class="sheet pay" aria-labelledby={`pay-${index}`}>
      <div class="heading">
        <h2 id={`pay-${index}`} tabIndex={-1}>
          Pay
        </h2>
        <Button kind="plain" text="Back" press={back} />
      </div>
      {check.status === 'open' && <Modes {...props} due={due} />}
      {mode === 'even' && <People {...props} />}
      <Tips {...props} isValid={tip !== undefined} />
      <Cards {...props} />
      <Summary {...props} due={due} />
      <Button
        kind="main"
        text={
          model.paying
            ? 'Paying…'
            : tip === undefined
              ? 'Enter a valid tip'
              : isUnselected
                ? 'Select your items'
                : `${model.changed ? 'The check has changed. Confirm' : 'Pay'} ${money(sum)}`
        }
        disabled={!isUnselected && (isBlocked(model) || amount <= 0 || tip === undefined)}
        press={() => {
          if (isUnselected) back()
          else if (model.changed) actions.set({ changed: false })
          else actions.pay(check)
        }}
      />
    </section>
  )
}

function Modes({ check, index, model, actions, money, due }: CheckProps & { due: Due }) {
  const texts = {
    mine: 'My items',
    even: 'Split evenly',
    all: check.paid_cents > 0 ? 'Pay the rest' : 'Pay everything',
  }
  const row = (mode: PayMode) => (
    <Choice
      group={`mode-${index}`}
      value={mode}
      checked={due.mode === mode}
      text={texts[mode]}
      detail={money(amountOf(check, mode, model.people))}
      choose={() => actions.set({ mode })}
    />
  )
  return (
    <fieldset class="modes">
      <legend>How would you like to pay?</legend>
      {row('mine')}
      {row('even')}
      {row('all')}
    </fieldset>
  )
}

function People({ model, actions }: CheckProps) {
  const step = (by: number, label: string, text: string) => (
    <Button
      kind="step"
      text={text}
      label={label}
      press={() => actions.set({ people: Math.min(Math.max(model.people + by, 2), 30) })}
    />
  )
  return (
    <div class="people" role="group" aria-label="Number of people">
      <span>Split between</span>
      {step(-1, 'Fewer people', '−')}
      <output class="count">{model.people}</output>
      {step(1, 'More people', '+')}
    </div>
  )
}

const percents = [0, 10, 15, 20]

function Tips({ index, model, actions, isValid }: CheckProps & { isValid: boolean }) {
  const digits = digitsOf(model.view.location.currency)
  // The parser reads Latin digits.
  const amount = new Intl.NumberFormat(model.language, {
    numberingSystem: 'latn',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
  const chosen = model.tip
  const group = `tip-${index}`
  return (
    <fieldset class="tips">
      <legend>Tip</legend>
      {percents.map((percent) => (
        <Choice
          key={percent}
          group={group}
          value={String(percent)}
          checked={'percent' in chosen && chosen.percent === percent}
          text={percent === 0 ? 'None' : `${percent}%`}
          choose={() => actions.set({ tip: { percent } })}
        />
      ))}
      <Choice
        group={group}
        value="own"
        checked={'typed' in chosen}
        text="Other"
        choose={() => actions.set({ tip: { typed: '' } })}
      />
      {'typed' in chosen && (
        <label class="typed">
          <span>Tip amount</span>
          <input
            type="text"
            inputMode="decimal"
            value={chosen.typed}
            aria-invalid={isValid ? undefined : 'true'}
            aria-describedby={isValid ? undefined : `${group}-problem`}
            placeholder={amount.format(0)}
            onInput={(event) => actions.set({ tip: { typed: event.currentTarget.value } })}
          />
        </label>
      )}
      {!isValid && (
        <p id={`${group}-problem`} class="problem">
          {`Enter an amount such as ${amount.format(2.5)}`}
        </p>
      )}
    </fieldset>
  )
}

function Cards({ index, model, actions }: CheckProps) {
  const row = (card: 'approved' | 'declined', text: string, detail: string) => (
    <Choice
      group={`card-${index}`}
      value={card}
      checked={model.card === card}
      text={text}
      detail={detail}
      choose={() => actions.set({ card })}
    />
  )
  return (
    <fieldset class="cards">
      <legend>Card</legend>
      {row('approved', 'Test card: approved', '•• 4242')}
      {row('declined', 'Test card: declined', '•• 0002')}
      <p class="quiet">This is a simulation. No card is charged.</p>
    </fieldset>
  )
}

function Summary({ check, money, due: { mode, amount, tip = 0, sum } }: CheckProps & { due: Due }) {
  const prices = mode === 'mine' ? ownPrices(check) : amount
  return (
    <dl class="totals">
      <Line name={mode === 'mine' ? 'Your items' : 'Your share'} amount={money(prices)} />
      {prices !== amount && (
        <Line
          name={amount > prices ? 'Your share of tax and charges' : 'Adjustments'}
          amount={money(amount - prices)}
        />
      )}
      {tip !== 0 && <Line name="Tip" amount={money(tip)} />}
      <Line name="You pay" amount={money(sum)} kind="grand" />
    </dl>
  )
}
