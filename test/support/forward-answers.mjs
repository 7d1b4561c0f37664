/* Has the answers of services in a process of its own judged by the process that started it; see judged-answers.ts. */
import { subscribe } from 'node:diagnostics_channel'

subscribe('tabwire:answer', ({ body, ...answer }) => {
  if (process.connected) process.send({ answer: { ...answer, body: typeof body === 'string' ? body : null } })
})
