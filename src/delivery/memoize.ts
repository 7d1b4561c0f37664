/** More than a service has endpoints. */
const KEPT = 1_000

/** What is made of a URL or an address, once: both are looked at before attempts, and taking one apart costs as much as signing. */
export function remembering<T>(look: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    if (known.size === KEPT) known.clear()
    const seen = look(text)
    known.set(text, seen)
    return seen
  }
}
