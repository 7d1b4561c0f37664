import type { SignatureFailure, SignatureFailureCode, Verification } from './judge.ts'

/** What `verifyOrThrow` throws: a delivery that is not to be trusted, and why. */
export class SignatureError extends Error {
  override readonly name = 'SignatureError'
  readonly code: SignatureFailureCode

  constructor({ code, message }: Pick<SignatureFailure, 'code' | 'message'>) {
    super(message)
    this.code = code
  }
}

/** The verified `t`, in Unix seconds. @throws SignatureError when the delivery is not to be trusted. */
export function requireGenuine(result: Verification): number {
  if (!result.ok) throw new SignatureError(result)
  return result.timestamp
}
