/* The service loads the renderer by this file, whose types are in renderer.d.ts: preact's own types need the DOM's. */
export { renderer } from './render.tsx'
