/* Answers each message with the heap of this process after a collection, in bytes. Needs --expose-gc. */
process.on('message', () => {
  globalThis.gc()
  process.send(process.memoryUsage().heapUsed)
})
process.channel.unref()
