/** The code of a link to the inspector: letters that need no quoting in any address or shell. */
export const inspectorCode = /^[\w-]{1,64}$/

/**
 * The address that a browser opens with a code. The code stands behind the `#`, which no server is sent and no log holds.
 * @throws TypeError for a code that could make the address another one.
 */
export function inspectorLink(origin: string, code: string): string {
  if (!inspectorCode.test(code)) throw new TypeError('This is no code for the inspector.')
  return `${origin}/#link=${code}`
}

/** Whether a text is an address that {@link inspectorLink} makes, of a service on HTTP or HTTPS. */
export function isInspectorLink(text: string): boolean {
  return /^https?:\/\/[\w.:[\]-]+\/#link=[\w-]{1,64}$/.test(text) && URL.canParse(text)
}
