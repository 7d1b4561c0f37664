import { existsSync, readFileSync } from 'node:fs'

/** Folder of the package, for the sources and for the bundle. */
const root = rootAbove(new URL('.', import.meta.url))

/** Returns the URL of a file of the package, by its path: `fixtures/locations.json`. */
export function packageFile(path: string): URL {
  return new URL(path, root)
}

/** Returns the version of this package. Reads synchronously: it is one small file. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }
  return version
}

function rootAbove(folder: URL): URL {
  const above = new URL('..', folder)
  return existsSync(new URL('package.json', folder)) || above.href === folder.href ? folder : rootAbove(above)
}
