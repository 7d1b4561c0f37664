/** A terminal that a person types at. */
export interface Terminal {
  input: Pick<NodeJS.ReadStream, 'setRawMode' | 'setEncoding' | 'on' | 'off' | 'resume' | 'pause'>
  write(text: string): void
  columns(): number
  onResize(listener: () => void): void
}
