import { createAsk, NoAnswer } from '../../conformance/contract/ask.ts'
import type { ContractCase } from '../../conformance/contract/case.ts'
import { openHooks } from '../../conformance/contract/hooks.ts'
import { runContract } from '../../conformance/contract/run.ts'
import { openSite } from '../../conformance/contract/site.ts'
import { makeReport, type ConformanceReport } from '../../conformance/report/result.ts'
import { newToken } from '../../ids.ts'
import { CommandError } from '../failure.ts'

export interface ContractTarget {
  /** With the version, `http://127.0.0.1:4100/v1`. */
  baseUrl: string
  apiKey?: string | undefined
  /** A key without write scope. */
  limitedKey?: string | undefined
  serviceName: string
  /** PEM of the authority that issued the implementation's certificate. */
  ca?: string | undefined
  /** Of the receiver, for 127.0.0.1. */
  tls: { cert: string; key: string }
  receiverUrl?: string | undefined
  receiverPort?: number | undefined
}

/**
 * Checks an implementation against the specification, with a receiver of its own.
 * @throws CommandError when nobody answers at the base URL.
 */
export async function checkContract(
  target: ContractTarget,
  cases: readonly ContractCase[],
  tell: (text: string) => void = () => undefined,
  signal: AbortSignal = new AbortController().signal,
): Promise<ConformanceReport> {
  const started = performance.now()
  const baseUrl = target.baseUrl.replace(/\/+$/, '')
  const api = createAsk({ ...target, baseUrl, apiKey: target.apiKey, ca: target.ca })
  const controls = createAsk({
    baseUrl: `${baseUrl.replace(/\/v1$/, '')}/_sim`,
    apiKey: target.apiKey,
    ca: target.ca,
  })
  const hooks = await openHooks({
    tls: target.tls,
    publicUrl: target.receiverUrl,
    port: target.receiverPort ?? 0,
  })
  try {
    await api.ask('GET', '/locations')
    const { serviceName, limitedKey } = target
    const site = await openSite({
      ask: api.ask,
      sim: controls.ask,
      serviceName,
      hooks,
      limitedKey,
      token: newToken(),
    })
    const results = await runContract(site, cases, tell, signal)
    await site.cleanUp().catch(() => undefined)
    const duration_ms = Math.round(performance.now() - started)
    const interrupted = signal.aborted
    return makeReport({ suite: 'contract check', target: baseUrl, interrupted, duration_ms, cases: results })
  } catch (error) {
    if (error instanceof NoAnswer) throw new CommandError('unreachable', `${error.message}.`)
    throw error
  } finally {
    await Promise.all([api.close(), controls.close(), hooks.close()])
  }
}
