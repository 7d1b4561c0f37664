import type { PayMode } from '../model.ts'
import { digitsOf } from '../../../model/text/money.ts'
import { amountOf, ownClaims, pricesOf, tipOf } from '../money.ts'
import { type CheckProps, Choice, Line } from './elements.tsx'

/** The payment form: amount, tip, card and the resulting total. */
export function Pay(props: CheckProps) {
  const { check, index, model, actions, money } = props
  const amount = amountOf(check, model)
  const tip = tipOf(model.tip, amount, digitsOf(model.view.location.currency))
  const isPossible = amount > 0 && tip !== undefined
  return (
    <section class="sheet pay" id={`pay-${index}`} aria-labelledby={`pay-title-${index}`}>
      <h2 id={`pay-title-${index}`} tabIndex={-1}>
        Pay
      </h2>
      <Modes {...props} />
      {model.mode === 'even' && <People {...props} />}
      <Tips {...props} isValid={tip !== undefined} />
      <Cards {...props} />
      <Summary {...props} amount={amount} tip={tip ?? 0} />
      <button
        type="button"
        class="main"
        aria-disabled={isPossible && !model.busy ? undefined : 'true'}
        onClick={() => isPossible && !model.busy && actions.pay(check)}
      >
        {model.paying === check.external_id
          ? 'Paying…'
          : isPossible
            ? `Pay ${money(amount + tip)}`
            : hintOf(model.mode, tip)}
      </button>
    </section>
  )
}

function hintOf(mode: PayMode, tip: number | undefined): string {
  if (tip === undefined) return 'Enter a valid tip'
  return mode === 'mine' ? 'Select your items' : 'Nothing to pay'
}

const modes = { mine: 'My items', even: 'Split evenly', all: 'Pay the rest' } as const

function Modes({ check, index, model, actions, money }: CheckProps) {
  const row = (mode: PayMode) => (
    <Choice
      group={`mode-${index}`}
      value={mode}
      checked={model.mode === mode}
      text={modes[mode]}
      detail={money(amountOf(check, { ...model, mode }))}
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
  const step = (by: number, name: string, sign: string) => (
    <button
      type="button"
      class="step"
      aria-label={name}
      onClick={() => actions.set({ people: Math.min(Math.max(model.people + by, 2), 30) })}
    >
      {sign}
    </button>
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
            placeholder="0.00"
            onInput={(event) => actions.set({ tip: { typed: event.currentTarget.value } })}
          />
        </label>
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
    <fieldset class="modes cards">
      <legend>Card</legend>
      {row('approved', 'Test card: approved', '•• 4242')}
      {row('declined', 'Test card: declined', '•• 0002')}
      <p class="quiet">This is a simulation. No card is charged.</p>
    </fieldset>
  )
}

function Summary({ check, model, money, amount, tip }: CheckProps & { amount: number; tip: number }) {
  const prices = pricesOf(ownClaims(check))
  const rest = amount - prices
  return (
    <dl class="totals">
      {model.mode === 'mine' && amount > 0 ? (
        <>
          <Line name="Your items" amount={money(prices)} />
          {rest !== 0 && <Line name="Your share of tax and charges" amount={money(rest)} />}
        </>
      ) : (
        <Line name="Your share" amount={money(amount)} />
      )}
      {tip !== 0 && <Line name="Tip" amount={money(tip)} />}
      <Line name="You pay" amount={money(amount + tip)} kind="grand" />
    </dl>
  )
}
