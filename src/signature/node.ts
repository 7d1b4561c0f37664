// `tabwire/signature`: the functions for receivers on Node. Built as one file that imports only node:crypto.
export { SignatureError } from './verification.ts'
export type * from './event.ts'
export type { Payload, SignOptions } from './options.ts'
export type { SignatureFailure, SignatureFailureCode, Verification, VerifyOptions } from './verification.ts'
export { EventError, parseEvent, type EventErrorCode } from './parse-event.ts'
export { sign } from './sign.ts'
export { verify, verifyOrThrow } from './verify.ts'
