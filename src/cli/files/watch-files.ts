import { on } from 'node:events'

/** Yields a file's name each time it was written, once the writing is over; `onReady` is called once it looks. */
export async function* watchFiles(files: readonly string[], onReady: () => void): AsyncGenerator<string> {
  // Most pushes are not watched for.
  const { watch } = await import('chokidar')
  const watcher = watch([...files], {
    ignoreInitial: true,
    awaitWriteFinish: { stabilityThreshold: 50, pollInterval: 10 },
  })
  watcher.once('ready', onReady)
  try {
    for await (const [event, file] of on(watcher, 'all') as AsyncIterable<[event: string, file: string]>)
      if (event === 'change' || event === 'add') yield file
  } finally {
    await watcher.close()
  }
}
