/** Finds a push that was refused because of claims, and was repeated unchanged and refused again. */
export function conflictIgnored({ answer, refusedBefore }: { answer: number; refusedBefore: boolean }) {
  if (answer !== 409 || !refusedBefore) return undefined
  return 'This body was refused with 409 before and was sent again unchanged. It conflicts as long as guests hold their claims, so a retry cannot succeed. Read the conflicts in the response, restore the items at their price, and push the current check.'
}
