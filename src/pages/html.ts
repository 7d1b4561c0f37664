import type { Attributes, Tree } from './tree.ts'

/** Writes a tree as HTML. Every text and every attribute is escaped, so that what a POS or a guest has sent stays text. */
export function htmlOf(tree: Tree): string {
  if (tree === null || tree === false) return ''
  if (typeof tree === 'string' || typeof tree === 'number') return escape(String(tree))
  if (isList(tree)) return tree.map(htmlOf).join('')
  const open = `<${tree.tag}${attributesOf(tree.attributes)}>`
  return empty.has(tree.tag) ? open : `${open}${tree.children.map(htmlOf).join('')}</${tree.tag}>`
}

/** Elements that have no end. */
const empty = new Set(['input', 'link', 'meta', 'br', 'hr'])

function isList(tree: Tree): tree is readonly Tree[] {
  return Array.isArray(tree)
}

function attributesOf(attributes: Attributes): string {
  return Object.entries(attributes).map(attributeOf).join('')
}

/** A handler is the browser's own matter, and a key that of whoever compares two trees. */
function attributeOf([name, value]: [string, Attributes[string]]): string {
  if (value === null || value === undefined || value === false || typeof value === 'function') return ''
  if (name === 'key') return ''
  return value === true ? ` ${name}` : ` ${name}="${escape(String(value))}"`
}

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? '')
}
