import { readFile } from 'node:fs/promises'
import { packageFile } from '../../package-file.ts'

/** Receivers that verify as they should, short enough to copy: the files of `fixtures/receivers`, by language. */
export const receiverExamples = {
  csharp: 'csharp.cs',
  go: 'go.go',
  java: 'java.java',
  node: 'node.mjs',
  php: 'php.php',
  python: 'python.py',
  ruby: 'ruby.rb',
} as const

export type ReceiverLanguage = keyof typeof receiverExamples

/** The languages, in alphabetical order. */
export const receiverLanguages = Object.keys(receiverExamples) as ReceiverLanguage[]

/** The source text of a receiver. */
export async function readReceiverExample(language: ReceiverLanguage): Promise<string> {
  const name = receiverExamples[language]
  return readFile(packageFile(`fixtures/receivers/${name}`), 'utf8')
}
