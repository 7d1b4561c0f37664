import { describe, expect, it } from 'vitest'
import type { LoggedRequest } from '../../../src/model/simulator/request-entry.ts'
import { deliveryCurl, requestCurl, verifyCommand } from '../../../src/pages/browser/inspector/commands.ts'

describe('commands to copy', () => {
  it('a delivery as curl sends the exact body, quoted for a shell', () => {
    expect(deliveryCurl('https://localhost/a', `{"name":"Mia's"}`, 'Acme')).toBe(
      `printf %s '{"name":"Mia'\\''s"}' | curl -gsS -X POST 'https://localhost/a' -H 'Content-Type: application/json' -H 'User-Agent: Acme-Webhooks/1.0' -H 'X-Acme-Signature: t=<unix_seconds>,v1=<hex_hmac_sha256>' --data-binary @-`,
    )
  })

  it('a request as curl names the variable of the API key, not the key', () => {
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

  it('the verify command names the delivery and a service name other than the default', () => {
    expect(verifyCommand('dlv_1', 'Service')).toMatch(/^tabwire verify --secret .* --delivery dlv_1$/)
    expect(verifyCommand('dlv_1', 'Acme')).toMatch(/ --service-name Acme$/)
  })
})
