import { describe, expect, it } from 'vitest'
import type { LoggedRequest } from '../../../src/model/simulator/request-entry.ts'
import { deliveryCurl, requestCurl, verifyCommand } from '../../../src/pages/browser/inspector/commands.ts'

describe('commands to copy', () => {
  it('of a delivery as curl send the exact body, quoted for a shell', () => {
    const signature = { name: 'X-Acme-Signature', value: `t=1,v1=${'a'.repeat(64)}` }
    const headers = [
      { name: 'Host', value: 'localhost' },
      { name: 'Content-Type', value: 'application/json' },
      { name: 'User-Agent', value: 'Acme-Webhooks/1.0' },
    ]
    const sent = { url: 'https://localhost/a', headers, body: `{"name":"Mia's"}` }
    const curl = (header: string) =>
      `printf %s '{"name":"Mia'\\''s"}' | curl -gsS -X POST 'https://localhost/a' -H 'Content-Type: application/json' -H 'User-Agent: Acme-Webhooks/1.0' -H 'X-Acme-Signature: ${header}' --data-binary @-`
    expect(deliveryCurl({ ...sent, headers: [...headers, signature] }, 'Acme')).toBe(curl(signature.value))
    expect(deliveryCurl(sent, 'Acme')).toBe(curl('t=<unix_seconds>,v1=<hex_hmac_sha256>'))
  })

  it('of a request as curl contain the variable of the API key, not the key', () => {
    const request = { method: 'PUT', path: '/v1/checks/external/a', request_body: '{}' } as LoggedRequest
    expect(requestCurl('http://localhost:1', request)).toBe(
      `printf %s '{}' | curl -gsS -X PUT 'http://localhost:1/v1/checks/external/a' -H 'Content-Type: application/json' -H "Authorization: Bearer $TABWIRE_API_KEY" --data-binary @-`,
    )
    const { path } = request
    expect(
      requestCurl('http://localhost:1', {
        ...request,
        method: 'GET',
        request_body: null,
        path: `${path}?q='`,
      }),
    ).toBe(
      `curl -gsS -X GET 'http://localhost:1/v1/checks/external/a?q=%27' -H "Authorization: Bearer $TABWIRE_API_KEY"`,
    )
  })

  it('for verify contain the delivery and the variable of the secret, not the secret', () => {
    expect(verifyCommand('dlv_1')).toBe('tabwire verify --secret "$WEBHOOK_SECRET" --delivery dlv_1')
  })
})
