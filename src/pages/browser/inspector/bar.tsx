import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { address, Link, type ViewName, viewNames } from './address.tsx'
import { session } from './api.ts'
import { clock, serviceNow } from './clock.tsx'
import { helpShown } from './dialog.tsx'
import { Command } from './elements.tsx'
import { connection, isGone } from './live.ts'
import { formatTime } from '../../../model/text/time.ts'

const titles: Record<ViewName, string> = {
  checks: 'Checks',
  pushes: 'Pushes',
  events: 'Events',
  deliveries: 'Deliveries',
  endpoints: 'Endpoints',
  requests: 'Requests',
  controls: 'Controls',
}

/** Pixels beside the current tab, so that the next tab is seen to be there. */
const MARGIN = 32

/** The bar at the top: tabs, connection state and the service clock. */
export function Bar() {
  const tabs = useRef<HTMLElement>(null)
  const { view } = address.value
  const bring = () => {
    const current = tabs.current?.querySelector('[aria-current]')
    // Scrolls the tabs alone: the page itself must not move.
    const { left = 0, right = 0 } = current?.getBoundingClientRect() ?? {}
    const frame = tabs.current?.getBoundingClientRect()
    if (frame === undefined) return
    if (left < frame.left) tabs.current?.scrollBy(left - frame.left - MARGIN, 0)
    else if (right > frame.right) tabs.current?.scrollBy(right - frame.right + MARGIN, 0)
  }
  useLayoutEffect(bring, [view])
  useEffect(() => {
    // The clock and the connection beside the tabs change their width, too.
    const resized = new ResizeObserver(bring)
    if (tabs.current !== null) resized.observe(tabs.current)
    return () => resized.disconnect()
  }, [])
  return (
    <header class="bar">
      <span class="brand">Tabwire</span>
      <nav aria-label="Views" ref={tabs}>
        {viewNames.map((name) => (
          <Link key={name} to={{ view: name }} class="tab" current={address.value.view === name}>
            {titles[name]}
          </Link>
        ))}
      </nav>
      <div class="standing">
        <Connection />
        <Clock />
        <a class="docs" href="/docs">
          API docs
        </a>
        <button
          type="button"
          class="plain"
          aria-label="Keyboard shortcuts"
          onClick={() => (helpShown.value = true)}
        >
          ?
        </button>
      </div>
    </header>
  )
}

function Connection() {
  const state = connection.value
  return (
    <span class={`connection ${state}`} role="status">
      {state === 'live' ? 'Live' : state === 'offline' ? 'Offline' : 'Reconnecting…'}
    </span>
  )
}

function Clock() {
  const now = new Date(serviceNow.value).toISOString()
  const view = clock.value
  const ahead = view === undefined ? 0 : Math.abs(view.offset_ms)
  return (
    <Link to={{ view: 'controls' }} class="clock">
      <time dateTime={now}>
        {now.slice(0, 10)} <b>{now.slice(11, 19)}</b> UTC
      </time>
      {view?.frozen === true ? (
        <span class="tag">frozen</span>
      ) : (
        ahead > 2_000 && <span class="tag">moved</span>
      )}
    </Link>
  )
}

/** The banners: that the page shows a replay, and that the service cannot be reached. */
export function Banners() {
  const { replay } = typeof session.value === 'string' ? {} : session.value
  return (
    <div>
      {replay !== undefined && (
        <p class="replay">
          <b>Replay of {formatTime(replay.recorded_at)} UTC.</b> It sends no deliveries and injects no faults.
        </p>
      )}
      <div class="gone" role="alert">
        {isGone.value && <Gone isReplay={replay !== undefined} />}
      </div>
    </div>
  )
}

function Gone({ isReplay }: { isReplay: boolean }) {
  return (
    <>
      <p>
        <b>The service does not respond.</b>{' '}
        {isReplay ? 'Start the replay again. ' : 'Start it again in its directory. '}A restart ends this
        session, so use the new link.
      </p>
      <Command text={isReplay ? 'tabwire replay FILE --open' : 'tabwire start --open'} />
    </>
  )
}
