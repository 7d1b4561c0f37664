/** What a browser remembers of its guest: a name, an id that nobody can guess, and what was rated. */
export interface Memory {
  id: string
  name: string
  rated: string[]
}

const KEY = 'tabwire-guest'

/** What was kept, or a new guest, also where nothing can be kept (then for as long as the page is open). */
export function recall(): Memory {
  const kept = read()
  const guest = {
    id: typeof kept.id === 'string' && /^[\w-]{22,64}$/.test(kept.id) ? kept.id : newId(),
    name: typeof kept.name === 'string' ? kept.name : '',
    rated: Array.isArray(kept.rated) ? kept.rated.filter((id) => typeof id === 'string') : [],
  }
  keep(guest)
  return guest
}

export function keep(memory: Memory): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(memory))
  } catch {
    // A private window, say.
  }
}

function read(): Partial<Memory> {
  try {
    return (JSON.parse(localStorage.getItem(KEY) ?? '{}') ?? {}) as Partial<Memory>
  } catch {
    return {}
  }
}

/** 128 random bits in hex; `randomUUID` is there on HTTPS alone, and a phone comes by plain HTTP. */
function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
