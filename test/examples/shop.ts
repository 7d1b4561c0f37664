/** The webhook handler of the README's example. */
export function handleWebhook(_request: Request): Response {
  return new Response(null, { status: 204 })
}
