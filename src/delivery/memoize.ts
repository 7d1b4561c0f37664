/** More than the endpoints of a service. At this size the cache is cleared. */
const MAX_ENTRIES = 1_000

/** Caches parsed URLs and addresses. Each attempt needs them, and parsing costs as much as signing. */
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
