import { useEffect } from 'preact/hooks'
import { address, type ViewName } from './address.ts'
import { Announcements } from './announce.tsx'
import { Bar } from './bar.tsx'
import { ActivityChart } from './chart/activity-chart.tsx'
import { startClock } from './clock.ts'
import { Controls } from './controls/controls.tsx'
import { Drawer } from './detail/drawer.tsx'
import { startEndpoints } from './endpoints.ts'
import { Help } from './dialog/help.tsx'
import { ListView } from './list/list-view.tsx'
import { Locked } from './locked.tsx'
import { startListening } from './news.ts'
import { session } from './session-state.ts'
import { beginSession } from './session.ts'
import { views } from './views/index.ts'

/** The inspector: a bar, a list, and beside it what is opened in full. */
export function App() {
  useEffect(() => {
    void beginSession()
    // A new link that is opened where the page is already changes no more than what stands behind the #.
    addEventListener('hashchange', () => void beginSession())
  }, [])
  if (session.value === 'beginning') return <main class="blank" aria-busy="true" />
  if (typeof session.value === 'string') return <Locked why={session.value} />
  return <Open />
}

let started = false

/** Once for as long as the page is there, also when a session ends and another begins. */
function start(): void {
  if (!started) {
    startListening()
    startClock()
    startEndpoints()
  }
  started = true
}

function Open() {
  useEffect(start, [])
  const { view, open } = address.value
  const title = view === 'controls' ? 'Clock and faults' : views[view].title
  useEffect(() => {
    document.title = `${title} · Tabwire`
  }, [title])
  return (
    <div class={`app${open === '' ? '' : ' opened'}`}>
      <Bar />
      <main>
        <h1 class="spoken">{title}</h1>
        <div class="shown">
          <Shown view={view} />
        </div>
        {open !== '' && <Drawer open={open} />}
      </main>
      <Announcements />
      <Help />
    </div>
  )
}

function Shown({ view }: { view: ViewName }) {
  if (view === 'controls') return <Controls />
  return (
    <>
      {view === 'deliveries' && <ActivityChart />}
      <ListView key={view} view={views[view]} />
    </>
  )
}
