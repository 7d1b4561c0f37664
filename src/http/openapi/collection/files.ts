import type { Json } from '../json.ts'
import { brunoFiles } from './bruno.ts'
import { httpFile } from './http-file.ts'
import { postmanCollection } from './postman.ts'
import { collectionOf, type Collection } from './requests.ts'

/** Formats of collections: a text for a file, or texts for files in a folder by path. */
const formats = {
  bruno: brunoFiles,
  http: httpFile,
  postman: postmanCollection,
} satisfies Record<string, (collection: Collection) => string | Readonly<Record<string, string>>>

export type CollectionFormat = keyof typeof formats

export const collectionFormats = Object.keys(formats) as CollectionFormat[]

/** Returns the text of a collection, or several by their path in a folder. */
export function collectionFiles(
  format: CollectionFormat,
  document: Json,
): string | Readonly<Record<string, string>> {
  return formats[format](collectionOf(document))
}
