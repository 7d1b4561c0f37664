import type { Json } from './json.ts'

/** The document without those components that nothing in it leads to. */
export function withoutUnused(document: Json & { components: Record<string, Json> }): Json {
  const { components, ...rest } = document
  const used = new Set<string>()
  const follow = (pointer: string) => {
    if (used.has(pointer)) return
    used.add(pointer)
    const [kind = '', name = ''] = pointer.split('/').slice(2)
    references(components[kind]?.[name]).forEach(follow)
  }
  for (const pointer of references(rest)) follow(pointer)
  const isUsed = (kind: string, name: string) =>
    kind === 'securitySchemes' || used.has(`#/components/${kind}/${name}`)
  const left = Object.entries(components).map(([kind, all]) => [
    kind,
    Object.fromEntries(Object.entries(all).filter(([name]) => isUsed(kind, name))),
  ])
  return { ...rest, components: Object.fromEntries(left) as Json }
}

function references(value: unknown): string[] {
  return [...JSON.stringify(value ?? null).matchAll(/"\$ref":"([^"]+)"/g)].map(([, pointer = '']) => pointer)
}
