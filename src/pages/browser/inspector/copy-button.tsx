import { useState } from 'preact/hooks'
import { outcome } from './announce.tsx'

/** Milliseconds for which it says so. */
const SHOWN_MS = 1_500

/** Copies a text, which is made when it is asked for. */
export function CopyButton({ text, label }: { text: () => string | Promise<string>; label: string }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    const words = await text()
    try {
      await navigator.clipboard.writeText(words)
      setCopied(true)
      setTimeout(() => setCopied(false), SHOWN_MS)
    } catch {
      // By plain HTTP from another machine, browsers let no page copy.
      outcome.value = { text: `This browser does not let the page copy. Here it is: ${words}`, bad: true }
    }
  }
  return (
    <button type="button" class="copy" onClick={() => void copy()}>
      {copied ? 'Copied' : label}
    </button>
  )
}
