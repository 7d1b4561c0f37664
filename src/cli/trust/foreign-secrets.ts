import { suggestion } from '../suggestion.ts'
import { secretsNotMadeHere } from './made-here.ts'

/** Warns of what a data directory holds that this installation did not make; nothing for one that it made. */
export async function foreignSecrets(directory: string): Promise<string[]> {
  const found = await secretsNotMadeHere(directory)
  if (found.length === 0) return []
  return [
    `This installation did not make ${directory}: ${listOf(found)} came from elsewhere, and whoever made that knows it. Remove ${directory} to have everything made anew. If it is yours, run: ${suggestion('config trust', [], { 'data-dir': directory })}`,
  ]
}

function listOf(words: readonly string[]): string {
  return new Intl.ListFormat('en').format(words)
}
