export { diagnose, type Diagnosis, type DiagnoseOptions, type Mistake } from './diagnose.ts'
export type { Payload } from './digest.ts'
export { sign, type SignOptions } from './sign.ts'
export {
  SignatureError,
  verify,
  verifyOrThrow,
  type SignatureFailure,
  type SignatureFailureCode,
  type Verification,
  type VerifyOptions,
} from './verify.ts'
