/* Re-exports the renderer with the types of renderer.d.ts: preact's types would add the DOM's to the service's program. */
export { renderer } from './render.tsx'
