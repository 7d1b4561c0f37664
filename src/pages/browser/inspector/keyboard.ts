type KeyActions = Readonly<Record<string, () => void>>

/** Actions by key, the newest layer first. */
const layers: KeyActions[] = []

/** Adds a layer of single-key actions above the others until the returned function is called. */
export function onKeys(keys: KeyActions): () => void {
  layers.unshift(keys)
  return () => void layers.splice(layers.indexOf(keys), 1)
}

addEventListener('keydown', (event) => {
  if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return
  const { key, target } = event
  // Fields take letters as text, and a dialog handles its own keys.
  if (target instanceof Element && target.closest('input, select, textarea, dialog') !== null) return
  // Home and End scroll the drawer when it has the focus.
  if ((key === 'Home' || key === 'End') && target instanceof Element && target.closest('.drawer')) return
  const action = layers.find((keys) => Object.hasOwn(keys, key))?.[key]
  if (action === undefined) return
  event.preventDefault()
  action()
})
