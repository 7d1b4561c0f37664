/** More URLs than a service has endpoints. */
const KEPT = 1_000

/** What is made of a URL, once: they are looked at before each attempt, and taking one apart costs as much as signing. */
export function remembering<T>(look: (url: string) => T): (url: string) => T {
  const known = new Map<string, T>()
  return (url) => {
    const found = known.get(url)
    if (found !== undefined) return found
    if (known.size === KEPT) known.clear()
    const seen = look(url)
    known.set(url, seen)
    return seen
  }
}
