import { h, render, type VNode } from 'preact'
import type { Attributes, Tree } from '../tree.ts'

/** Makes what is below `root` be like the tree, and changes no more of it than it must: focus and caret stay. */
export function draw(tree: Tree, root: HTMLElement): void {
  render(vnodeOf(tree) as VNode, root)
}

function vnodeOf(tree: Tree): unknown {
  if (tree === null || tree === false || typeof tree === 'string' || typeof tree === 'number') return tree
  if (!('tag' in tree)) return tree.map(vnodeOf)
  return h(tree.tag, propsOf(tree.attributes), ...(tree.children.map(vnodeOf) as VNode[]))
}

function propsOf(attributes: Attributes): Record<string, unknown> {
  const entries = Object.entries(attributes).map(([name, value]): [string, unknown] => [
    name,
    typeof value === 'function'
      ? (event: Event) => value((event.currentTarget as HTMLInputElement).value)
      : value,
  ])
  return Object.fromEntries(entries)
}
