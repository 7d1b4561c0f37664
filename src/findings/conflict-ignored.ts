/** Finds a push that was refused because of claims, and was repeated unchanged and refused again. */
export function conflictIgnored({ answer, refusedBefore }: { answer: number; refusedBefore: boolean }) {
  if (answer !== 409 || !refusedBefore) return undefined
  return 'This body was refused with 409 before and came again unchanged. It conflicts as long as the guests hold their claims, so repeating it cannot help. Read the conflicts in the answer, put the items back at their price, and push the check as it then is.'
}
