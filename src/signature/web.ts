// `tabwire/signature/web`: the same on Web Crypto for edge runtimes, Deno and Bun. Built as one file without imports.
export { SignatureError } from './verification.ts'
export type * from './event.ts'
export type { Payload, SignOptions } from './options.ts'
export type { SignatureFailure, SignatureFailureCode, Verification, VerifyOptions } from './verification.ts'
export { EventError, parseEvent, type EventErrorCode } from './parse-event.ts'
export { sign, verify, verifyOrThrow } from './web-crypto.ts'
