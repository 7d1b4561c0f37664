import { ok, type Documented } from '../route.ts'

/** White modules around a QR code, which scanners require. */
const QUIET_ZONE = 4

/** Route with the QR code of a table's guest page. The inspector's page would be 3 kB larger if it encoded them. */
export function tableQrRoute(urlOf: (locationId: string, number: string) => string): Documented {
  return {
    method: 'GET',
    path: '/tables/:number/qr',
    scope: 'simulate',
    doc: {
      id: 'getTableQr',
      tag: 'Simulator inspector',
      internal: true,
      summary: 'Retrieve the QR code of a guest page',
      answers: { 200: { description: 'The address and its QR code.', schema: 'TableQr' } },
    },
    async handle({ key, params }) {
      const url = urlOf(key.location_id, params.number ?? '')
      const { encode } = await import('uqr')
      const { data, size } = encode(url, { ecc: 'M', border: QUIET_ZONE })
      const dark = data.flatMap((line, y) =>
        line.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])),
      )
      return ok({ url, size, path: dark.join('') })
    },
  }
}
