import { session } from './api.ts'
import { Command } from './elements.tsx'
import { isGone } from './live.ts'

/** The banners: that the page shows a replay, and that the service cannot be reached. */
export function Banners() {
  const { replay } = typeof session.value === 'string' ? {} : session.value
  return (
    <div>
      {replay !== undefined && (
        <p class="replay">
          <b>Replay of {replay.recorded_at.slice(0, 19).replace('T', ' ')} UTC.</b> It sends no deliveries and
          injects no faults.
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
