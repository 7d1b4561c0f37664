/** The guest that this browser remembers. */
interface SavedGuest {
  /** Secret: owns the guest's claims and payments. */
  id: string
  name: string
  /** Rated checks, as `ratingKey` identifies them. */
  rated: string[]
}

const KEY = 'tabwire-guest'

/** Reads the guest from `localStorage`, or creates one; without storage it lasts as long as the page. */
export function loadGuest(): SavedGuest {
  const saved = readSaved()
  const guest = {
    id: typeof saved.id === 'string' && /^[\w-]{22,64}$/.test(saved.id) ? saved.id : newId(),
    name: typeof saved.name === 'string' ? saved.name : '',
    rated: Array.isArray(saved.rated) ? saved.rated.filter((id) => typeof id === 'string') : [],
  }
  saveGuest(guest)
  return guest
}

/** Saves what has changed, and keeps what another tab has saved. */
export function saveGuest(changes: Partial<SavedGuest>): void {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...readSaved(), ...changes }))
  } catch {
    // Storage is full or disabled, for example in a private window.
  }
}

function readSaved(): Partial<SavedGuest> {
  try {
    return (JSON.parse(localStorage.getItem(KEY) ?? '{}') ?? {}) as Partial<SavedGuest>
  } catch {
    return {}
  }
}

/** Returns 128 random bits in hex. `randomUUID` needs HTTPS, and phones open the page over plain HTTP. */
function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
