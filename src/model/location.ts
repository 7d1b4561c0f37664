/** A location of the restaurant, as `GET /locations` lists it (contract section 2). */
export interface Location {
  id: string
  name: string
  /** IANA name, such as `America/New_York`. */
  timezone: string
  /** ISO 4217 code. */
  currency: string
  created_at: string
}
