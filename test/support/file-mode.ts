import { stat } from 'node:fs/promises'
import { expect } from 'vitest'

/** Expects a file or directory to have this mode. Windows has no file modes. */
export async function expectMode(path: string, mode: number): Promise<void> {
  if (process.platform === 'win32') return
  expect((await stat(path)).mode & 0o777, path).toBe(mode)
}
