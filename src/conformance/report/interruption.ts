/** Why a case has no verdict that was cut short by Ctrl-C, or had not begun. */
export const INTERRUPTED = 'Not checked: interrupted.'

/** The work, unless the signal comes first: then the work goes on unheard, and this rejects with the signal's reason. */
export async function untilInterrupted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const over = new AbortController()
  const interruption = new Promise<never>((_resolve, reject) => {
    const give = () => reject(signal.reason as Error)
    if (signal.aborted) give()
    else signal.addEventListener('abort', give, { signal: over.signal })
  })
  return Promise.race([work, interruption]).finally(() => over.abort())
}
