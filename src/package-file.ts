import { existsSync } from 'node:fs'

/** The folder of the package: the same from the sources and from what is bundled of them, wherever that lies. */
const root = rootAbove(new URL('.', import.meta.url))

/** A file that comes along with the package, by its path in it: `fixtures/locations.json`. */
export function packageFile(path: string): URL {
  return new URL(path, root)
}

function rootAbove(folder: URL): URL {
  const above = new URL('..', folder)
  return existsSync(new URL('package.json', folder)) || above.href === folder.href ? folder : rootAbove(above)
}
