/**
 * Returns an absolute URL as a base of those below it: normalised, without a slash at the end.
 * @throws TypeError unless it is absolute.
 */
export function baseUrlOf(url: string): string {
  if (URL.canParse(url)) return new URL(url).href.replace(/\/$/, '')
  throw new TypeError(
    `The URL must be absolute, such as https://shop.example/webhooks, got ${JSON.stringify(url)}.`,
  )
}

/** Returns true when `url` is `base` or below it; both are results of `baseUrlOf`. */
export function isAtOrBelow(url: string, base: string): boolean {
  return url === base || (url.startsWith(base) && /[/?]/.test(url.charAt(base.length)))
}
