import { existsSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'

/** A guide of the package. */
export interface Guide {
  /** File name without `.md`. */
  name: string
  /** The first heading. */
  title: string
  /** Markdown. */
  text: string
}

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

const guides = packageFile('src/guides/')

/** Reads the guides of the package, sorted by name. */
export async function readGuides(): Promise<Guide[]> {
  const files = (await readdir(guides)).filter((file) => file.endsWith('.md')).sort()
  return Promise.all(files.map((file) => readGuide(file.slice(0, -'.md'.length))))
}

async function readGuide(name: string): Promise<Guide> {
  const text = await readFile(new URL(`${name}.md`, guides), 'utf8')
  const [, title = name] = /^# (.+)$/m.exec(text) ?? []
  return { name, title: title.replaceAll('`', ''), text }
}
