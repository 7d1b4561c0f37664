/**
 * Matches texts that look like an API key or a signing secret, also one of another service in base64. The group is the
 * prefix.
 */
export const secretForm = /\b(twk_|whsec_)[\w+/=-]{6,}/g
