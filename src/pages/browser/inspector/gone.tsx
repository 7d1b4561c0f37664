import { Command } from './elements.tsx'
import { isGone } from './live.ts'

/** The banner while the service cannot be reached. */
export function Gone() {
  return (
    <div class="gone" role="alert">
      {isGone.value && (
        <>
          <p>
            <b>The service does not respond.</b> Start it again in its directory. A restart ends this session,
            so use the new link.
          </p>
          <Command text="tabwire start --open" />
        </>
      )}
    </div>
  )
}
