/** Code of an inspector link: characters that need no quoting in URLs and shells. */
export const inspectorCode = /^[\w-]{1,64}$/

/**
 * Returns the URL that opens the inspector with a code. The code follows the `#`, so that servers and logs never see
 * it.
 * @throws TypeError for a code that could change the URL.
 */
export function inspectorLink(origin: string, code: string): string {
  if (!inspectorCode.test(code)) throw new TypeError('The code of the inspector link has an invalid form.')
  return `${origin}/#link=${code}`
}

/** Returns true for a URL that {@link inspectorLink} makes, for a service on HTTP or HTTPS. */
export function isInspectorLink(text: string): boolean {
  return /^https?:\/\/[\w.:[\]-]+\/#link=[\w-]{1,64}$/.test(text) && URL.canParse(text)
}
