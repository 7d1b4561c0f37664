type X509 = typeof import('@peculiar/x509')

/**
 * Loads the library that makes certificates, which takes longer than everything else at start and is seldom needed. Its
 * decorators want the metadata polyfill to be there before.
 */
export async function loadX509(): Promise<X509> {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}
