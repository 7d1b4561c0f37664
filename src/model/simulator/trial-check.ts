/**
 * Begins the external ids of checks that our own commands push to try something out. What comes of them says nothing
 * about the integration under test, so its report leaves them out.
 */
export const TRIAL_PREFIX = 'tabwire-trial-'

/** Whether a path such as `/v1/checks/external/tabwire-trial-1` names a check of our own. */
export function isTrialPath(path: string): boolean {
  return path.startsWith(`/v1/checks/external/${TRIAL_PREFIX}`)
}
