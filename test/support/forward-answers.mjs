/* Has the answers of services in a process of its own judged by the process that started it; see judged-answers.ts. */
import { subscribe } from 'node:diagnostics_channel'

subscribe('tabwire:answer', ({ body, ...answer }) => {
  // What is sent piece by piece stays in this process: an empty object stands for it.
  const told = body instanceof ReadableStream ? {} : body
  if (process.connected) process.send({ answer: { ...answer, body: told } })
})
