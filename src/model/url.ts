/** Returns the host of a URL without the brackets that it puts around IPv6 addresses. */
export function bareHost({ hostname }: Pick<URL, 'hostname'>): string {
  return hostname.replace(/^\[|\]$/g, '')
}

/** Returns the port of an HTTP URL, also the one that the URL omits as the default of its scheme. */
export function portOf({ port, protocol }: Pick<URL, 'port' | 'protocol'>): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' ? 443 : 80
}

/** Returns the URL of a service, or its path, without slashes at its end and without the version segment, `/v1`. */
export function withoutVersion(url: string): string {
  return url.replace(/\/+(v1\/*)?$/, '')
}

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

/** Returns true for names that every resolver maps to this machine (RFC 6761). */
export function isLocalhost(name: string): boolean {
  return /^(.*\.)?localhost$/.test(name)
}

/** Returns true when a host name, without port and brackets, always means this machine. One pattern: each request asks. */
export function isLoopbackName(name: string): boolean {
  return /^((.*\.)?localhost|127(\.\d{1,3}){3}|::1)$/.test(name)
}

/** Returns true for a shared service that other machines reach: its users must not reach its network through it. */
export function isOpenToOthers(store: unknown, host: unknown): boolean {
  return store !== undefined && typeof host === 'string' && !isLoopbackName(host)
}
