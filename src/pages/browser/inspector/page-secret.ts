const KEY = 'tabwire-inspector'

/** Where nothing can be kept: for as long as the page is open. */
let kept = ''

/**
 * Keeps the secret that this page sends beside its cookie. The storage of an origin, unlike a cookie, is not shared with
 * other ports of the host; other tabs of the inspector and a page that is loaded again find it there.
 */
export function keepPageSecret(secret: string): void {
  kept = secret
  try {
    localStorage.setItem(KEY, secret)
  } catch {
    // A private window, say.
  }
}

/** The header by which the service knows this page. Another tab may have begun a newer session, whose cookie is shared. */
export function pageHeader(): Record<string, string> {
  return { 'x-tabwire-page': stored() ?? kept }
}

function stored(): string | null {
  try {
    return localStorage.getItem(KEY)
  } catch {
    return null
  }
}
