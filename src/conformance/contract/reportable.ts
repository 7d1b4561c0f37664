/** The most characters of a detail in the report. */
const MAX_LENGTH = 600
/** A shorter key is not hidden: it may be a word of any text, such as `key`. */
const MIN_SECRET = 8

/**
 * Makes a text that may quote the service fit for a report: keys and secrets are hidden, whatever steers a terminal or
 * breaks a line is shown as its escape, and the text ends after `MAX_LENGTH` characters.
 */
export function reportable(text: string, secrets: readonly string[]): string {
  const hidden = secrets
    .filter((secret) => secret.length >= MIN_SECRET)
    .flatMap((secret) => formsOf(secret))
    .sort((one, other) => other.length - one.length)
    .reduce((shown, secret) => shown.replaceAll(secret, '[hidden]'), text)
    .replace(/whsec_[^\s"'<>,;.\\)\]}]+/g, 'whsec_[hidden]')
  const line = hidden.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, escaped)
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH).trimEnd()}…` : line
}

/** A key as it is, and as a service may quote it from the header. */
function formsOf(secret: string): string[] {
  const base64 = [secret, `Bearer ${secret}`].map((one) => Buffer.from(one).toString('base64'))
  return [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString('hex'),
    ...base64.map((one) => one.replace(/=+$/, '')),
  ]
}

function escaped(character: string): string {
  const named = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character]
  return named ?? `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
}
