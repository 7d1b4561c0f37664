/** A piece of a page: what it is, whoever draws it. The service writes it as HTML, the browser keeps its DOM like it. */
export type Tree = string | number | null | false | Element | readonly Tree[]
export interface Element {
  tag: string
  attributes: Attributes
  children: readonly Tree[]
}
export type Attributes = Readonly<Record<string, string | number | boolean | null | undefined | Handler>>
/** Takes the value of the control that it belongs to; there are none where the service writes the page. */
export type Handler = (value: string) => void

export function h(tag: string, attributes: Attributes = {}, ...children: readonly Tree[]): Element {
  return { tag, attributes, children }
}
