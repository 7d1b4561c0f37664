/** What single keys do, as they are for now; whoever came last is asked first. */
const layers: Readonly<Record<string, () => void>>[] = []

/** Gives keys a meaning until the result is called. */
export function onKeys(keys: Readonly<Record<string, () => void>>): () => void {
  layers.unshift(keys)
  return () => void layers.splice(layers.indexOf(keys), 1)
}

addEventListener('keydown', (event) => {
  if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return
  const { target } = event
  // A letter that is typed is a letter, and a dialog has its own keys.
  if (target instanceof Element && target.closest('input, select, textarea, dialog') !== null) return
  // What is read in full is scrolled to its own ends.
  if ((event.key === 'Home' || event.key === 'End') && target instanceof Element && target.closest('.drawer'))
    return
  const action = layers.find((keys) => Object.hasOwn(keys, event.key))?.[event.key]
  if (action === undefined) return
  event.preventDefault()
  action()
})
