import { readFile } from 'node:fs/promises'
import { signatureHeader } from '../../model/service-name.ts'
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

/** The source text of a receiver, which reads the signature header of this service. */
export async function readReceiverExample(language: ReceiverLanguage, serviceName: string): Promise<string> {
  const file = receiverExamples[language]
  const source = await readFile(packageFile(`fixtures/receivers/${file}`), 'utf8')
  const header = signatureHeader(serviceName)
  return source
    .replaceAll('X-Service-Signature', header)
    .replaceAll('x-service-signature', header.toLowerCase())
    .replaceAll('HTTP_X_SERVICE_SIGNATURE', `HTTP_${header.replaceAll('-', '_').toUpperCase()}`)
}
