import { Command } from './list/empty-list.tsx'

/** What is seen without a session: how to get one, and nothing else. */
export function Locked({ why }: { why: 'none' | 'unreachable' }) {
  return (
    <main class="locked">
      <h1>Tabwire</h1>
      {why === 'unreachable' ? (
        <>
          <p>The service does not answer. Start it, then load this page again:</p>
          <Command text="tabwire start --open" />
        </>
      ) : (
        <>
          <p>
            The inspector opens by a link, so that no page and no address holds the API key. Make one in the
            directory where the service runs:
          </p>
          <Command text="tabwire open" />
          <p class="quiet">
            A link is good once, for ten minutes, and <code>tabwire start</code> prints one, too. A session
            ends with the service. Elsewhere, say where the service is:{' '}
            <code>tabwire open --url … --api-key …</code>
          </p>
        </>
      )}
    </main>
  )
}
