/**
 * Makes the driver of PostgreSQL, an optional peer package, a dependency: downloads carry it. Changes the contents of
 * package.json and package-lock.json.
 */
export function addDriver(manifest, lock) {
  const { pg: range } = manifest.devDependencies
  for (const root of [manifest, lock.packages['']]) {
    root.dependencies.pg = range
    delete root.devDependencies.pg
    delete root.peerDependencies.pg
    delete root.peerDependenciesMeta.pg
  }
  const waiting = ['pg']
  for (const name of waiting) {
    const entry = lock.packages[`node_modules/${name}`]
    if (entry === undefined) throw new Error(`package-lock.json has no ${name}, which pg needs.`)
    delete entry.dev
    delete entry.peer
    const needed = Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })
    waiting.push(...needed.filter((one) => !waiting.includes(one)))
  }
}
