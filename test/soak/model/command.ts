import fc from 'fast-check'
import { expect } from 'vitest'
import type { Check } from '../../../src/model/check.ts'
import type { Model } from './model.ts'
import type { Real } from './real.ts'
import { checkPart, claimPart, expected, paymentPart } from './shown.ts'

export type Command = fc.AsyncCommand<Model, Real>

/** A command: its name, precondition, action and assertions. */
export function command(
  name: string,
  run: Command['run'],
  check: (model: Model) => boolean = () => true,
): Command {
  return { check, run, toString: () => name }
}

/** The checks of all commands: few, so that commands meet. */
export const ids = fc.constantFrom('a', 'a', 'b')

/** Expects that the service shows a check, its claims and its payments as the model has them. Returns the check. */
export async function expectStored(model: Model, real: Real, id: string): Promise<Check | undefined> {
  const state = model.checks.get(id)
  const { status, check, claims, payments } = await real.get(id)
  expect(status).toBe(state === undefined ? 404 : 200)
  if (state === undefined) return undefined
  expect({
    check: checkPart(check),
    claims: claims.map(claimPart).reverse(),
    payments: payments.map(paymentPart).reverse(),
  }).toEqual(expected(state))
  return check
}
