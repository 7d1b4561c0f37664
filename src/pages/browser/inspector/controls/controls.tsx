import { ClockControls } from './clock-controls.tsx'
import { FaultControls } from './fault-controls.tsx'
import { ResetControls } from './reset-controls.tsx'

/** What moves the service as a whole: its clock, misfortunes on purpose, and a fresh start. */
export function Controls() {
  return (
    <div class="controls">
      <ClockControls />
      <FaultControls />
      <ResetControls />
    </div>
  )
}
