/** More than a service has endpoints. */
const MAX_ENTRIES = 1_000

/** What is made of a URL or an address, once: both are looked at before attempts, and taking one apart costs as much as signing. */
export function memoize<T>(compute: (text: string) => T): (text: string) => T {
  const cache = new Map<string, T>()
  return (text) => {
    const found = cache.get(text)
    if (found !== undefined) return found
    if (cache.size === MAX_ENTRIES) cache.clear()
    const result = compute(text)
    cache.set(text, result)
    return result
  }
}
