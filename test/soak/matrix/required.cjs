/* The entries by `require`: those of the signature anywhere, the simulator where Node requires ES modules. */
const assert = require('node:assert/strict')
const { test } = require('node:test')
const { createSimulator } = require('tabwire')
const { sign, verify } = require('tabwire/signature')
const web = require('tabwire/signature/web')

void test('required', async () => {
  const simulator = await createSimulator({ port: false })
  assert.equal((await simulator.fetch('/_sim/health')).status, 200)
  await simulator.close()
  const given = { payload: '{}', secret: 'whsec_x' }
  assert.equal(verify({ ...given, header: sign(given) }).ok, true)
  assert.equal((await web.verify({ ...given, header: sign(given) })).ok, true)
})
