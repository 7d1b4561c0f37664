import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { DatabaseUnusable } from './start-errors.ts'

/** Encrypts secrets before they are stored. `place` is where a text is stored: it opens there only. */
export interface SecretBox {
  seal(text: string, place: string): string
  /** Texts that were stored without a key are returned as they are. @throws DatabaseUnusable without the right key. */
  open(stored: string, place: string): string
}

const PREFIX = 'aes-256-gcm:'
const IV_BYTES = 12
const TAG_BYTES = 16

/** Opens a box with a key of 32 bytes in base64. Without a key, texts are stored as they are. */
export function createSecretBox(storeKey: string | undefined, sandbox: string): SecretBox {
  const key = storeKey === undefined ? undefined : Buffer.from(storeKey, 'base64')
  return {
    seal(text, place) {
      if (key === undefined) return text
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(place))
      const sealed = [iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
      return PREFIX + Buffer.concat(sealed).toString('base64')
    },
    open(stored, place) {
      if (!stored.startsWith(PREFIX)) return stored
      if (key === undefined)
        throw new DatabaseUnusable(
          `--store: the sandbox ${sandbox} has encrypted secrets. Pass their key: TABWIRE_STORE_KEY or --store-key-file.`,
        )
      const sealed = Buffer.from(stored.slice(PREFIX.length), 'base64')
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES))
        decipher.setAAD(Buffer.from(place)).setAuthTag(sealed.subarray(-TAG_BYTES))
        const text = decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES))
        return Buffer.concat([text, decipher.final()]).toString('utf8')
      } catch (cause) {
        throw new DatabaseUnusable(
          `--store: the secrets of the sandbox ${sandbox} are encrypted with another key. Pass the key of the other instances: TABWIRE_STORE_KEY or --store-key-file.`,
          { cause },
        )
      }
    },
  }
}
