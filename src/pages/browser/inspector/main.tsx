import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { address, type ViewName } from './address.tsx'
import { Announcements } from './announce.tsx'
import { beginSession, readSession, refusal, session } from './api.ts'
import { Banners, Bar } from './bar.tsx'
import { ActivityChart } from './chart/activity-chart.tsx'
import { startClock } from './clock.tsx'
import { pendingMoves, Playing } from './clock-moves.tsx'
import { Controls } from './controls.tsx'
import { Drawer } from './detail/drawer.tsx'
import { Help } from './dialog.tsx'
import { Command } from './elements.tsx'
import { EndpointRegistration, RegisterButton } from './endpoint-actions.tsx'
import { ListView } from './list/list-view.tsx'
import type { View } from './list/view.ts'
import { onLive, startStream } from './live.ts'
import { Shortcuts } from './keyboard.tsx'
import { checksView } from './views/checks.tsx'
import { deliveriesView } from './views/deliveries.tsx'
import { endpoints, endpointsView, startEndpoints } from './views/endpoints.tsx'
import { eventsView } from './views/events.tsx'
import { pushesView, requestsView } from './views/requests.tsx'

/** The lists, by their name in the address. */
const views: Record<Exclude<ViewName, 'controls'>, View<never>> = {
  checks: checksView as View<never>,
  pushes: pushesView as View<never>,
  events: eventsView as View<never>,
  deliveries: deliveriesView as View<never>,
  endpoints: endpointsView as View<never>,
  requests: requestsView as View<never>,
}

/** The inspector: shows the service's data once the page has a session. */
function Inspector() {
  if (session.value === 'beginning') return <main class="blank" aria-busy="true" />
  if (typeof session.value === 'string') return <Locked why={session.value} />
  return <Open />
}

/** The page without a session: explains how to get one. */
function Locked({ why }: { why: 'none' | 'refused' | 'unreachable' }) {
  return (
    <main class="locked">
      <h1>Tabwire</h1>
      {why === 'unreachable' ? (
        <>
          <p>No response from the service. Start it, then reload this page:</p>
          <Command text="tabwire start --open" />
        </>
      ) : (
        <>
          {why === 'refused' && <p>{refusal.value}</p>}
          <p>
            Open the inspector with a one-time link, so that no page and no URL contains the API key. Create a
            link in the directory where the service runs:
          </p>
          <Command text="tabwire open" />
          <p class="quiet">
            A link works once, within ten minutes. <code>tabwire start</code> also prints one. A session ends
            when the service stops. From another directory, pass the URL and the key:{' '}
            <code>tabwire open --url … --api-key …</code>
          </p>
        </>
      )}
    </main>
  )
}

let started = false

/** Starts the background reads once per page load, also when a session ends and another begins. */
function start(): void {
  if (!started) {
    startStream()
    startClock(pendingMoves)
    startEndpoints()
    // A loaded state may have another currency.
    onLive(({ type }) => {
      if (type === 'reset') void readSession()
    })
  }
  started = true
}

/** The page with a session: a bar, a list or the controls, and a drawer with the opened record. */
function Open() {
  useEffect(start, [])
  const { view, open } = address.value
  const title = view === 'controls' ? 'Controls' : views[view].title
  useEffect(() => {
    document.title = `${title} · Tabwire`
  }, [title])
  return (
    <div class={`app${open === '' ? '' : ' opened'}`}>
      <Bar />
      <Banners />
      <main>
        <h1 class="spoken">{title}</h1>
        <div class="shown">
          <Content view={view} />
        </div>
        {open !== '' && <Drawer open={open} />}
      </main>
      <Playing />
      <EndpointRegistration />
      <Announcements />
      <Shortcuts />
      <Help />
    </div>
  )
}

function Content({ view }: { view: ViewName }) {
  if (view === 'controls') return <Controls />
  return (
    <>
      {view === 'deliveries' && <ActivityChart />}
      {view === 'endpoints' && endpoints.value.size > 0 && (
        <div class="toolbar">
          <RegisterButton />
        </div>
      )}
      <ListView key={view} view={views[view]} />
    </>
  )
}

void beginSession()
// A new link that is opened in this tab changes only the hash, which loads no page.
addEventListener('hashchange', () => void beginSession())

const root = document.getElementById('page')
if (root !== null) render(<Inspector />, root)
