/**
 * Inputs with the signatures that OpenSSL 3.0 made of them, once, by hand:
 * `printf '%s' "$t.$payload" | openssl dgst -sha256 -hmac "$secret"`.
 */
export const secret = 'whsec_0123456789abcdef0123456789abcdef'

export const vectors = [
  {
    name: 'an event',
    t: 1700000000,
    payload: '{"id":"evt_1","type":"check.created","created_at":"2026-01-02T03:04:05.000Z","data":{}}',
    v1: '0a369c2c09ccc88334aa185a5f1706cc3afb599a7ff5d44af0a9dddec528c801',
  },
  {
    name: 'an event beyond ASCII',
    t: 1700000000,
    payload:
      '{"id":"evt_2","type":"check.updated","created_at":"2026-01-02T03:04:05.000Z","data":{"note":"Jalapeño 🌶 — 日本"}}',
    v1: '119f83b11e44d216d03161e175f09fc175275971af88fe03a081ce351fe19468',
  },
  {
    name: 'an empty body',
    t: 1700000000,
    payload: '',
    v1: '5f7ceeff41b3c5bf4b86a675513f8b6aa279da886ae187f64636c2ec538163c1',
  },
  {
    name: 'the time 0',
    t: 0,
    payload: '{"id":"evt_1","type":"check.created","created_at":"2026-01-02T03:04:05.000Z","data":{}}',
    v1: '2e1c4d43d913a4b9c0725592900685748c8c433e19b9f3411b5f33aa9ab2b936',
  },
] as const
