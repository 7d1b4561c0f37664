import type { ConformanceReport } from '../../conformance/report/result.ts'

/** What to look at first where a receiver refused everything genuine: rarely all that the cases warn of is true then. */
export function hintOf({ cases }: ConformanceReport): string | undefined {
  const genuine = cases.filter(({ group, verdict }) => group === 'accepts' && verdict !== 'not_checked')
  if (genuine.length === 0 || genuine.some(({ verdict }) => verdict !== 'failed')) return undefined
  return 'Not one genuine delivery was taken. Does the receiver verify with this secret, at this path, under this header name? See --secret, --service-name and --header.'
}
