import { z } from 'zod'

/** The name that guests give themselves: 1–255 characters, or none. It identifies nobody. */
export const guestName = z.string().min(1).max(255).nullable().default(null)

/** Whose doing a record is, when a guest did it at the table's page: told to nobody, not shown. */
export interface ByGuest {
  /** SHA-256 of the id by which the guest's browser knows itself, in hex. */
  guest_hash?: string
}

/** Where a record of guests belongs: together these name the check. `location_id` is not shown. */
export interface OfCheck {
  check_id: string
  external_check_id: string
  location_id: string
}
