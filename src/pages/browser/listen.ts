/** Told of changes at the table, for as long as the page is open; a stream that ends for good is opened anew. */
export function listen(
  onChange: () => void,
  onConnection: (state: 'live' | 'reconnecting' | 'offline') => void,
): void {
  let wait = 1_000
  const open = () => {
    const stream = new EventSource(`${location.pathname}/stream`)
    stream.addEventListener('change', () => {
      wait = 1_000
      onConnection('live')
      onChange()
    })
    stream.addEventListener('error', () => {
      onConnection(navigator.onLine ? 'reconnecting' : 'offline')
      if (stream.readyState !== EventSource.CLOSED) return
      setTimeout(open, wait)
      wait = Math.min(wait * 2, 30_000)
    })
  }
  open()
  addEventListener('offline', () => onConnection('offline'))
  addEventListener('online', () => {
    onConnection('reconnecting')
    onChange()
  })
}
