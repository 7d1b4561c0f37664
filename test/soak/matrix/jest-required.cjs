/* Jest as it is installed: CommonJS. */
const { sign, verify } = require('tabwire/signature')
const web = require('tabwire/signature/web')

test('a signature is made and verified', async () => {
  jest.useFakeTimers()
  const given = { payload: '{}', secret: 'whsec_x' }
  expect(verify({ ...given, header: sign(given) })).toMatchObject({ ok: true })
  expect(await web.verify({ ...given, header: sign(given) })).toMatchObject({ ok: true })
})
