import { go } from './address.tsx'
import { Dialog } from './dialog.tsx'
import { CopyButton } from './elements.tsx'
import { registration } from './endpoint-actions.ts'

/** Shows a new endpoint and its secret once. */
export function EndpointRegistration() {
  const endpoint = registration.value
  if (endpoint === null) return null
  const { id, url, signing_secret } = endpoint
  return (
    <Dialog
      title="Endpoint registered"
      onClose={() => {
        registration.value = null
        go({ view: 'endpoints' })
        go({ open: id }, 'replace')
      }}
    >
      <p class="url">{url}</p>
      <p>Copy the signing secret now. It is not shown again.</p>
      <p class="command">
        <code>{signing_secret}</code>
        <CopyButton text={() => signing_secret} label="Copy secret" />
      </p>
      <form method="dialog" class="buttons">
        <button class="main">Done</button>
      </form>
    </Dialog>
  )
}
