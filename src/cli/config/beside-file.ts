import { dirname, relative, resolve } from 'node:path'
import { readConfigFile } from './file.ts'

/** A path that a settings file names is relative to that file; it is shown as people would type it from where they are. */
export function besideFile(config: string, path: string): string {
  return relative('', resolve(dirname(config), path)) || '.'
}

/** Where the data is, when that is all that a command wants of the settings file; `start` judges the rest of it. */
export async function dataDirectoryIn(config: string | undefined): Promise<string | undefined> {
  const file = await readConfigFile(config)
  const directory = file?.content.data_dir
  return file !== undefined && typeof directory === 'string' && directory !== ''
    ? besideFile(file.path, directory)
    : undefined
}
