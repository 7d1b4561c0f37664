type X509 = typeof import('@peculiar/x509')

/**
 * Loads the library that makes certificates, which takes longer than everything else at start and is seldom needed. It
 * insists on a polyfill of `Reflect` for decorators whose metadata it never asks for; stand-ins that know of none do,
 * and leave once it is loaded.
 */
export async function loadX509(): Promise<X509> {
  loaded ??= withReflection(() => import('@peculiar/x509'))
  return loaded
}

let loaded: Promise<X509> | undefined

async function withReflection<T>(load: () => Promise<T>): Promise<T> {
  if ('getMetadata' in Reflect) return load()
  const standIns = { getMetadata: noMetadata, getOwnMetadata: noMetadata, defineMetadata: noMetadata }
  Object.assign(Reflect, standIns)
  try {
    return await load()
  } finally {
    for (const name of Object.keys(standIns)) Reflect.deleteProperty(Reflect, name)
  }
}

function noMetadata(): undefined {
  return undefined
}
