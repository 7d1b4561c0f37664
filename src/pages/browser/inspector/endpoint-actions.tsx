import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { type EventType, eventTypes } from '../../../model/event.ts'
import type { WebhookEndpointView } from '../../../model/webhook-endpoint.ts'
import { act } from './actions.ts'
import { messageOf } from '../call.ts'
import { address, drawerFocus, go } from './address.tsx'
import { callApi } from './api.ts'
import { Dialog } from './dialog.tsx'
import { CopyButton } from './elements.tsx'
import { publishReturn } from './live.ts'

/** An endpoint as its registration returns it. No other response contains the secret. */
type RegisteredEndpoint = WebhookEndpointView & { signing_secret: string }

/** The registration dialog: its form, or a new endpoint whose secret is shown once. */
const registration = signal<'form' | RegisteredEndpoint | null>(null)

/** Registers an endpoint and shows its secret. @throws Refused when the URL is not accepted. */
async function registerEndpoint(url: string, event_types: readonly EventType[]): Promise<void> {
  registration.value = await callApi<RegisteredEndpoint>('POST', '/webhook-endpoints', { url, event_types })
}

/** Registers the URL and the event types of an endpoint again. The new endpoint has a new id and a new secret. */
export function registerAgain({ url, event_types }: Pick<WebhookEndpointView, 'url' | 'event_types'>): void {
  void act(async () => {
    await registerEndpoint(url, event_types.length === 0 ? eventTypes : event_types)
    return `Registered ${url} again.`
  })
}

/** Deletes an endpoint, like `tabwire endpoints delete`. */
export function deleteEndpoint({ id, url }: Pick<WebhookEndpointView, 'id' | 'url'>): void {
  void act(async () => {
    // An open detail would read the deleted endpoint again.
    if (address.peek().open === id) go({ open: '' })
    await callApi('DELETE', `/webhook-endpoints/${encodeURIComponent(id)}`)
    return `Deleted ${url}.`
  })
}

/** The button that opens the registration dialog. */
export function RegisterButton() {
  return (
    <button type="button" class="main" onClick={() => (registration.value = 'form')}>
      Register endpoint
    </button>
  )
}

/** The registration dialog, when it is open. */
export function EndpointRegistration() {
  const shown = registration.value
  if (shown === null) return null
  return shown === 'form' ? <Form /> : <NewSecret endpoint={shown} />
}

function close(): void {
  registration.value = null
}

/** A form for the URL and the event types. An error stays beside the form. */
function Form() {
  const [url, setUrl] = useState('')
  const [chosen, setChosen] = useState<ReadonlySet<EventType>>(new Set(eventTypes))
  const [problem, setProblem] = useState<string>()
  const [isSending, setSending] = useState(false)
  const toggle = (type: EventType) => {
    const next = new Set(chosen)
    if (!next.delete(type)) next.add(type)
    setChosen(next)
  }
  const submit = async () => {
    if (isSending) return
    setSending(true)
    setProblem(undefined)
    try {
      await registerEndpoint(
        url.trim(),
        eventTypes.filter((type) => chosen.has(type)),
      )
      publishReturn()
    } catch (error) {
      setProblem(messageOf(error))
      setSending(false)
    }
  }
  return (
    <Dialog title="Register an endpoint" onClose={close}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <label>
          <span>URL</span>
          <input
            type="text"
            inputMode="url"
            required
            maxLength={2048}
            placeholder="https://localhost:8443/webhooks"
            value={url}
            onInput={(event) => setUrl(event.currentTarget.value)}
          />
        </label>
        <fieldset class="types">
          <legend>Event types</legend>
          {eventTypes.map((type) => (
            <label key={type}>
              <input type="checkbox" checked={chosen.has(type)} onChange={() => toggle(type)} /> {type}
            </label>
          ))}
        </fieldset>
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <div class="buttons">
          <button class="main" aria-disabled={isSending || undefined}>
            Register
          </button>
          <button type="button" onClick={(event) => event.currentTarget.closest('dialog')?.close()}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function NewSecret({ endpoint: { id, url, signing_secret } }: { endpoint: RegisteredEndpoint }) {
  return (
    <Dialog
      title="Endpoint registered"
      isSticky
      onClose={() => {
        close()
        go({ view: 'endpoints' })
        go({ open: id }, 'replace')
        drawerFocus.value += 1
      }}
    >
      <p class="url">{url}</p>
      <p>Copy the signing secret now. It is not shown again.</p>
      <p class="command">
        <code>{signing_secret}</code>
        <CopyButton text={() => signing_secret} label="Copy secret" isShown />
      </p>
      <form method="dialog" class="buttons">
        <button class="main">Done</button>
      </form>
    </Dialog>
  )
}
