import { describe, expect, it } from 'vitest'
import { openSimulator } from '../../support/simulator.ts'
import { isSoak } from '../../soak/seeded.ts'
import { makeClients } from './clients/generate.ts'

describe('clients made of the OpenAPI document', () => {
  it.skipIf(!isSoak)('compile in strict mode, and their calls work', async () => {
    const { problems, load } = await makeClients()
    expect(problems).toBe('')
    const { url, apiKey } = await openSimulator()
    const openApiFetch = await load('with-openapi-fetch')
    expect(await openApiFetch.use(url, apiKey)).toEqual({
      balance: 1450,
      reasons: [['burger', 'removed']],
      refused: 'invalid_query',
      listed: [['table 7/dinner', null]],
      seen: [[['active', false]]],
      wrong: 1450,
      attempted: 0,
    })
    const swaggerTypescriptApi = await load('with-swagger-typescript-api')
    expect(await swaggerTypescriptApi.use(url, apiKey)).toEqual({
      status: 201,
      conflict: 'removed',
      paid: 'succeeded',
      tip: 100,
      none: 'not_found',
      rating: 5,
    })
  })
})
