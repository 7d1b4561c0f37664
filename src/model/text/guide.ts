/** A guide of the package. */
export interface Guide {
  /** File name without `.md`. */
  name: string
  /** The first heading. */
  title: string
  /** Markdown. */
  text: string
}
