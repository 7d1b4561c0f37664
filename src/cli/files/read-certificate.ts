import { X509Certificate } from 'node:crypto'
import { usageError } from '../errors.ts'
import { readInput } from './input.ts'

/** The text of a `--cacert`. @throws CommandError when it cannot be read, or (usage) holds no certificate. */
export async function readCertificate(file: string): Promise<string> {
  const pem = (await readInput(file)).toString()
  if (isCertificate(pem)) return pem
  throw usageError(`${file} holds no certificate in PEM form. Pass the authority's certificate to --cacert.`)
}

function isCertificate(pem: string): boolean {
  try {
    return pem.includes('-----BEGIN CERTIFICATE-----') && new X509Certificate(pem).serialNumber !== ''
  } catch {
    return false
  }
}
