import { z } from 'zod'

/** Body of `POST /_sim/clock`: exactly one way to move it (contract section 10). */
export const clockMoveBody = z.union([
  z.strictObject({ advance: z.string().meta({ examples: ['36h', '1h30m', '500ms'] }) }),
  z.strictObject({ to: z.string().meta({ format: 'date-time' }) }),
  z.strictObject({ freeze: z.boolean() }),
])

/** Body of `POST /_sim/deliveries/{id}/resend`. */
export const resendBody = z.object({ fresh: z.boolean().default(true) })
