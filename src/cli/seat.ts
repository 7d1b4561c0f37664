/** A terminal at which somebody sits. */
export interface Seat {
  input: Pick<NodeJS.ReadStream, 'setRawMode' | 'setEncoding' | 'on' | 'off' | 'resume' | 'pause'>
  write(text: string): void
  columns(): number
  onResize(listener: () => void): void
}
