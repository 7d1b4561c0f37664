import type { Fault, FaultsView } from '../../../../model/simulator/fault.ts'
import { act } from '../act.ts'
import { ask } from '../ask.ts'
import { Action, Missing } from '../detail/parts.tsx'
import { useAsked } from '../use-asked.ts'
import { FaultForm } from './fault-form.tsx'
import { faultRows } from './fault-text.ts'

/** What `tabwire faults set`, `show` and `clear` do. */
export function FaultControls() {
  const { value, problem } = useAsked<FaultsView>('/faults')
  if (value === undefined) return <Missing problem={problem} />
  const put = (faults: readonly Fault[], done: string) =>
    act(async () => {
      await (faults.length === 0
        ? ask('DELETE', '/faults')
        : ask('PUT', '/faults', { seed: value.seed, faults }))
      return done
    })
  const without = (index: number) => value.faults.filter((_fault, at) => at !== index)
  return (
    <section class="card" aria-labelledby="faults-title">
      <h2 id="faults-title">Faults</h2>
      <p class="quiet">
        Misfortunes on purpose, drawn from the seed {value.seed}: the same calls go wrong in the same way.
      </p>
      {value.faults.length === 0 ? (
        <p>None are set.</p>
      ) : (
        <ul class="lines">
          {value.faults.map((fault, index) => (
            <li key={index} class="claim">
              <span>
                <b>{fault.on}</b> {faultRows(fault).join('; ')}
              </span>
              <Action onClick={() => void put(without(index), 'The fault is cleared.')}>Clear</Action>
            </li>
          ))}
        </ul>
      )}
      <FaultForm onSet={(fault) => void put([...value.faults, fault], 'The fault is set.')} />
      {value.faults.length > 1 && (
        <div class="buttons">
          <Action onClick={() => void put([], 'All faults are cleared.')}>Clear all</Action>
        </div>
      )}
    </section>
  )
}
