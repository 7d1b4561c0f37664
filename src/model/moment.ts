/** `2026-11-21 18:04:05`, UTC, of an ISO time. */
export function moment(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ')
}
