import { openDatabase } from './database.ts'
import { DatabaseUnusable } from './start-errors.ts'

/** Connects once. Returns why a start could not; `undefined` when the database answers. */
export async function checkDatabase(url: string, sandbox: string): Promise<string | undefined> {
  try {
    const database = await openDatabase({ url, sandbox })
    try {
      await database.query('SELECT 1')
    } catch (error) {
      return database.unusable(error).message
    } finally {
      await database.close()
    }
  } catch (error) {
    if (error instanceof DatabaseUnusable) return error.message
    throw error
  }
  return undefined
}
