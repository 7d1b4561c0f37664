import { networkInterfaces } from 'node:os'
import { describe, expect, it, vi } from 'vitest'
import {
  createDestinationPolicy,
  type DestinationSettings,
} from '../../../src/delivery/destination/policy.ts'
import { normalUrl } from '../../../src/delivery/destination/url.ts'

const names: Record<string, readonly string[]> = {
  localhost: ['127.0.0.1', '::1'],
  'shop.example': ['93.184.216.34'],
  'metadata.example': ['169.254.169.254'],
  'mixed.example': ['93.184.216.34', '169.254.169.254'],
  'lan.example': ['192.168.1.10'],
  'wrapped.example': ['64:ff9b::a9fe:a9fe'],
}

async function resolve(name: string): Promise<readonly string[]> {
  const addresses = names[name]
  if (addresses === undefined) throw Object.assign(new Error(name), { code: 'ENOTFOUND' })
  return addresses
}

function policyWith(settings: Partial<DestinationSettings> = {}) {
  return createDestinationPolicy({
    allowHttpLoopback: false,
    denyPrivate: false,
    own: {},
    resolve,
    ...settings,
  })
}

/** Addresses, in many spellings, that no webhook may reach. */
const forbidden = [
  // 169.254.169.254, where clouds keep credentials
  '169.254.169.254',
  '169.254.169.254.',
  '2852039166',
  '0xa9fea9fe',
  '0xA9FEA9FE',
  '0251.0376.0251.0376',
  '025177524776',
  '0xa9.0xfe.0xa9.0xfe',
  '169.254.43518',
  '169.16689662',
  '①⑥⑨.②⑤④.①⑥⑨.②⑤④',
  '169%2e254%2e169%2e254',
  '169。254。169。254',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '[0:0:0:0:0:ffff:a9fe:a9fe]',
  '[::169.254.169.254]',
  '[::ffff:0:169.254.169.254]',
  '[64:ff9b::169.254.169.254]',
  '[64:ff9b:1::169.254.169.254]',
  '[2002:a9fe:a9fe::1]',
  '[2001:0:a9fe:a9fe::]',
  '[2001:0:5db8:d822:0:0:5601:5601]',
  // other metadata services
  '[fd00:ec2::254]',
  '[fd00:0ec2:0:0:0:0:0:254]',
  '[fd00:ec2::23]',
  '[fd20:ce::254]',
  '100.100.100.200',
  '168.63.129.16',
  '[::ffff:168.63.129.16]',
  '192.0.0.192',
  // link-local
  '169.254.0.1',
  '[fe80::1]',
  '[febf::1]',
  // unspecified
  '0.0.0.0',
  '0',
  '0x0',
  '0.1.2.3',
  '[::]',
  '[0:0:0:0:0:0:0:0]',
  '[::ffff:0.0.0.0]',
  '[64:ff9b::]',
  // multicast and broadcast
  '224.0.0.1',
  '239.255.255.250',
  '[ff02::1]',
  '[::ffff:224.0.0.1]',
  '255.255.255.255',
  '4294967295',
  '[2002:ffff:ffff::]',
  // names
  'metadata.example',
  'METADATA.example.',
  'mixed.example',
  'wrapped.example',
]

/** Addresses of local development, allowed without --deny-private. */
const internal = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f.1',
  '017700000001',
  '127.255.255.254',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  'localhost',
  'LOCALHOST.',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.10',
  '[::ffff:192.168.1.10]',
  '[2002:c0a8:10a::1]',
  '100.64.0.1',
  '[fd12:3456::1]',
  '[fec0::1]',
  '192.0.2.1',
  '198.18.0.1',
  '240.0.0.1',
  '[2001:db8::1]',
  '[100::1]',
  'lan.example',
]

const open = [
  '93.184.216.34',
  '172.15.255.255',
  '172.32.0.1',
  '100.128.0.1',
  '[2606:2800:220:1:248:1893:25c8:1946]',
  '[::ffff:93.184.216.34]',
  'shop.example',
  'does-not-resolve.example',
  'a_b.example',
  'bücher.example',
]

describe('the address of an endpoint', () => {
  it.each(forbidden)('is refused always: %s', async (host) => {
    for (const allowHttpLoopback of [true, false]) {
      const reason = await policyWith({ allowHttpLoopback }).whyRefused(`https://${host}/hook`)
      expect(reason).toMatch(/^must not point to .*: deliveries are never sent there/)
    }
  })

  it.each(internal)('is allowed unless --deny-private is set: %s', async (host) => {
    expect(await policyWith().whyRefused(`https://${host}/hook`)).toBeUndefined()
    expect(await policyWith({ denyPrivate: true }).whyRefused(`https://${host}/hook`)).toContain(
      '--deny-private',
    )
  })

  it.each(open)('is allowed always: %s', async (host) => {
    expect(
      await policyWith({ denyPrivate: true }).whyRefused(`https://${host}:8443/hook?a=b`),
    ).toBeUndefined()
  })

  it('names the address that its name resolves to', async () => {
    expect(await policyWith().whyRefused('https://mixed.example/')).toContain(
      'mixed.example resolves to 169.254.169.254',
    )
  })
})

/** IANA's registries of special-purpose addresses, and what lies just beside their blocks. */
describe('an address of', () => {
  const judged = async (address: string) => {
    const url = `https://${address.includes(':') ? `[${address}]` : address}/`
    const [always, privately] = [policyWith(), policyWith({ denyPrivate: true })].map(
      async ({ whyRefused }) => whyRefused(url),
    )
    if ((await always) !== undefined) return 'forbidden'
    return (await privately) === undefined ? 'public' : 'internal'
  }

  it.each<[block: string, first: string, last: string, standing: 'internal' | 'forbidden']>([
    ['0.0.0.0/8', '0.0.0.0', '0.255.255.255', 'forbidden'],
    ['10.0.0.0/8', '10.0.0.0', '10.255.255.255', 'internal'],
    ['100.64.0.0/10', '100.64.0.0', '100.127.255.255', 'internal'],
    ['127.0.0.0/8', '127.0.0.0', '127.255.255.255', 'internal'],
    ['169.254.0.0/16', '169.254.0.0', '169.254.255.255', 'forbidden'],
    ['172.16.0.0/12', '172.16.0.0', '172.31.255.255', 'internal'],
    ['192.0.0.0/24', '192.0.0.0', '192.0.0.255', 'internal'],
    ['192.0.2.0/24', '192.0.2.0', '192.0.2.255', 'internal'],
    ['192.31.196.0/24', '192.31.196.0', '192.31.196.255', 'internal'],
    ['192.52.193.0/24', '192.52.193.0', '192.52.193.255', 'internal'],
    ['192.88.99.0/24', '192.88.99.0', '192.88.99.255', 'internal'],
    ['192.168.0.0/16', '192.168.0.0', '192.168.255.255', 'internal'],
    ['192.175.48.0/24', '192.175.48.0', '192.175.48.255', 'internal'],
    ['198.18.0.0/15', '198.18.0.0', '198.19.255.255', 'internal'],
    ['198.51.100.0/24', '198.51.100.0', '198.51.100.255', 'internal'],
    ['203.0.113.0/24', '203.0.113.0', '203.0.113.255', 'internal'],
    ['224.0.0.0/4', '224.0.0.0', '239.255.255.255', 'forbidden'],
    ['240.0.0.0/4', '240.0.0.0', '255.255.255.254', 'internal'],
    ['255.255.255.255/32', '255.255.255.255', '255.255.255.255', 'forbidden'],
    ['::/128', '::', '::', 'forbidden'],
    ['::1/128', '::1', '::1', 'internal'],
    ['::/96 that carries a public address', '::1.0.0.0', '::223.255.255.255', 'internal'],
    ['::ffff:0:0/96 that carries a private one', '::ffff:10.0.0.0', '::ffff:10.255.255.255', 'internal'],
    ['::ffff:0:0:0/96', '::ffff:0:1.0.0.0', '::ffff:0:223.255.255.255', 'internal'],
    ['64:ff9b::/96 that carries a private one', '64:ff9b::10.0.0.0', '64:ff9b::192.168.255.255', 'internal'],
    ['64:ff9b:1::/48', '64:ff9b:1::1.0.0.0', '64:ff9b:1:ffff:ffff:ffff:223.255.255.255', 'internal'],
    ['100::/64', '100::', '100::ffff:ffff:ffff:ffff', 'internal'],
    ['100:0:0:1::/64', '100:0:0:1::', '100::1:ffff:ffff:ffff:ffff', 'internal'],
    ['2001::/23 but Teredo', '2001:1::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', 'internal'],
    ['Teredo with a private client', '2001:0:808:808:0:0:f5ff:fffe', '2001:0:808:808::3f57:fffe', 'internal'],
    ['Teredo with a private server', '2001:0:a00:1:0:0:f7f7:f7f7', '2001:0:c0a8:1::f7f7:f7f7', 'internal'],
    ['2001:2::/48', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff', 'internal'],
    ['2001:10::/28', '2001:10::', '2001:1f:ffff:ffff:ffff:ffff:ffff:ffff', 'internal'],
    ['2001:20::/28', '2001:20::', '2001:2f:ffff:ffff:ffff:ffff:ffff:ffff', 'internal'],
    ['2001:30::/28', '2001:30::', '2001:3f:ffff:ffff:ffff:ffff:ffff:ffff', 'internal'],
    ['2001:db8::/32', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', 'internal'],
    ['2002::/16 that carries a private one', '2002:a00::', '2002:c0a8:ffff:ffff::', 'internal'],
    ['2620:4f:8000::/48', '2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff', 'internal'],
    ['3fff::/20', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', 'internal'],
    ['5f00::/16', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'internal'],
    ['fc00::/7', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'internal'],
    ['fe80::/10', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'forbidden'],
    ['fec0::/10', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'internal'],
    ['ff00::/8', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'forbidden'],
    ['unassigned addresses below 2000::/3', '200::', '1fff:ffff::', 'internal'],
    ['unassigned addresses above 2000::/3', '4000::', 'fbff:ffff::', 'internal'],
    ['unassigned addresses before fe80::/10', 'fe00::', 'fe7f:ffff::', 'internal'],
  ])('%s is judged alike at its first and its last address', async (_block, first, last, standing) => {
    expect([await judged(first), await judged(last)]).toEqual([standing, standing])
  })

  it.each<[what: string, addresses: string[]]>([
    ['IPv4 beside those blocks', ['1.0.0.0', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0']],
    ['IPv4 beside those blocks', ['126.255.255.255', '128.0.0.0', '169.253.255.255', '169.255.0.0']],
    ['IPv4 beside those blocks', ['192.0.1.0', '192.0.3.0', '192.88.98.255', '192.88.100.0', '192.167.1.1']],
    ['IPv4 beside those blocks', ['198.17.255.255', '198.20.0.0', '203.0.112.255', '223.255.255.255']],
    ['IPv6 beside those blocks', ['2000::', '2001:200::', '2001:db7:ffff::', '2001:db9::', '2003::']],
    ['IPv6 beside those blocks', ['2620:4f:7fff::', '2620:4f:8001::', '3ffe:ffff::', '3fff:1000::']],
    ['a public one that IPv6 carries', ['::ffff:8.8.8.8', '64:ff9b::8.8.8.8', '2002:808:808::1']],
    ['a public one behind a public Teredo server', ['2001:0:808:808:0:0:f7f7:f7f7']],
  ])('%s is public: %j', async (_what, addresses) => {
    expect(await Promise.all(addresses.map(judged))).toEqual(addresses.map(() => 'public'))
  })
})

describe('the URL of an endpoint', () => {
  it.each([
    ['', 'absolute URL'],
    ['shop.example', 'absolute URL'],
    ['//shop.example', 'absolute URL'],
    ['/hook', 'absolute URL'],
    ['https://', 'absolute URL'],
    ['https:///hook', 'absolute URL'],
    ['https:shop.example', 'absolute URL'],
    ['https:\\\\shop.example\\hook', 'absolute URL'],
    ['https://shop.example\\hook', 'absolute URL'],
    [' https://shop.example', 'absolute URL'],
    ['https://shop.example ', 'absolute URL'],
    ['ht\ntps://shop.example', 'absolute URL'],
    ['https://shop.example/\u0000', 'absolute URL'],
    ['https://shop.example:99999/', 'absolute URL'],
    ['https://[::1', 'absolute URL'],
    ['https://[fe80::1%25eth0]/', 'absolute URL'],
    ['https://a b/', 'absolute URL'],
    ['javascript:1', 'absolute URL'],
    ['ftp://shop.example/', 'not ftp:'],
    ['file:///etc/passwd', 'absolute URL'],
    ['wss://shop.example/', 'not wss:'],
    ['http://shop.example/', 'must be an https: URL'],
    ['http://127.0.0.1/', 'tabwire certs create'],
    ['https://user:secret@shop.example/', 'user name'],
    ['https://user@shop.example/', 'user name'],
    ['https://@shop.example/', 'user name'],
    ['https://shop.example/#top', 'fragment'],
    ['https://shop.example/#', 'fragment'],
    ['https://shop.example:0/', 'port 0'],
    [`https://shop.example/${'x'.repeat(2028)}`, '2048 characters'],
    [`https://shop.example/${'./'.repeat(1014)}`, '2048 characters'],
  ])('is refused: %j', async (url, words) => {
    expect(await policyWith().whyRefused(url)).toContain(words)
  })

  it('does not appear with its password in an error', async () => {
    expect(await policyWith().whyRefused('https://user:hunter2@shop.example/')).not.toContain('hunter2')
  })

  it.each([
    'https://shop.example',
    'HTTPS://Shop.Example/Hook',
    'https://shop.example:443/a%20b?c=%23#'.slice(0, -1),
    'https://shop.example/a@b',
    'https://shop.example:6667/',
    `https://shop.example/${'x'.repeat(2027)}`,
  ])('is accepted: %s', async (url) => {
    expect(await policyWith().whyRefused(url)).toBeUndefined()
  })

  it.each([
    'http://127.0.0.1:8080/',
    'http://localhost:8080/',
    'http://[::1]:8080/',
    'http://0x7f000001/',
    'http://localhost./',
    'http://shop.localhost:3000/',
  ])('may be plain http on loopback with --allow-http-loopback: %s', async (url) => {
    expect(await policyWith({ allowHttpLoopback: true }).whyRefused(url)).toBeUndefined()
    expect(await policyWith().whyRefused(url)).toContain('--allow-http-loopback')
  })

  it('may be plain http at a named host, in any case of letters', async () => {
    const policy = policyWith({ allowHttpHosts: ['Shop.Example'] })
    expect(await policy.whyRefused('http://SHOP.example:3000/')).toBeUndefined()
    expect(await policy.whyRefused('http://lan.example:3000/')).toContain('must be an https: URL')
  })

  it.each([
    'http://shop.example/',
    'http://192.168.1.10/',
    'http://localhost.evil.example/',
    'http://[fe80::1]/',
    'http://0.0.0.0/',
  ])('may not be plain http elsewhere, even with --allow-http-loopback: %s', async (url) => {
    expect(await policyWith({ allowHttpLoopback: true }).whyRefused(url)).toMatch(
      /^must (be an https: URL|not point to)/,
    )
  })
})

describe('the service itself', () => {
  const refuse = (host: string, url: string) =>
    policyWith({ own: { address: { host, port: 4100 } } }).whyRefused(url)

  it.each(['127.0.0.1', '::1', '[::1]', 'localhost', '0.0.0.0', '::'])(
    'bound to %s is refused as a receiver',
    async (host) => {
      for (const spelling of [
        '127.0.0.1',
        'localhost',
        '[::1]',
        '127.1',
        '[::ffff:127.0.0.1]',
        '2130706433',
        'localhost.',
      ])
        expect(await refuse(host, `https://${spelling}:4100/v1`)).toContain('this service itself')
      expect(await refuse(host, 'https://127.0.0.1:4101/')).toBeUndefined()
      expect(await refuse(host, 'https://shop.example:4100/')).toBeUndefined()
    },
  )

  it('bound to an address of a network is refused there, in any spelling', async () => {
    expect(await refuse('192.168.1.10', 'https://192.168.1.10:4100/')).toContain('this service itself')
    expect(await refuse('192.168.1.10', 'https://[::ffff:c0a8:10a]:4100/')).toContain('this service itself')
    expect(await refuse('192.168.1.10', 'https://lan.example:4100/')).toContain('this service itself')
    expect(await refuse('192.168.1.10', 'https://127.0.0.1:4100/')).toBeUndefined()
  })

  const ownAddress = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address

  it.skipIf(ownAddress === undefined)(
    'is refused at an address of its machine where it is bound to all',
    async () => {
      for (const host of ['0.0.0.0', '::', 'some-host'])
        expect(await refuse(host, `https://${ownAddress}:4100/`)).toContain('this service itself')
      for (const host of ['127.0.0.1', 'localhost', '[::1]'])
        expect(await refuse(host, `https://${ownAddress}:4100/`)).toBeUndefined()
    },
  )

  it('on port 443 is recognised in a URL without a port', async () => {
    const policy = policyWith({ own: { address: { host: '127.0.0.1', port: 443 } } })
    expect(await policy.whyRefused('https://localhost/')).toContain('this service itself')
  })

  it('on port 80 is recognised in an http: URL without a port', async () => {
    const policy = policyWith({ allowHttpLoopback: true, own: { address: { host: '127.0.0.1', port: 80 } } })
    expect(await policy.whyRefused('http://localhost/')).toContain('this service itself')
  })
})

describe('the normal form of a URL', () => {
  it.each([
    ['HTTPS://Shop.Example', 'https://shop.example/'],
    ['https://shop.example:443/A?b=C', 'https://shop.example/A?b=C'],
    ['https://0x7f.1:8443/', 'https://127.0.0.1:8443/'],
    ['https://bücher.example/ü', 'https://xn--bcher-kva.example/%C3%BC'],
  ])('of %s is %s', (url, normal) => {
    expect(normalUrl(url)).toBe(normal)
  })
})

describe('the addresses of a name', () => {
  const found = (policy: ReturnType<typeof policyWith>, name: string, all: boolean) =>
    new Promise((resolve) =>
      policy.lookup(443)(name, { all }, (...answer) => resolve(answer[0] ?? answer.slice(1))),
    )

  it('are given to Node all, or the first, each with its family', async () => {
    expect(await found(policyWith(), 'localhost', true)).toEqual([
      [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ],
    ])
    expect(await found(policyWith(), 'localhost', false)).toEqual(['127.0.0.1', 4])
  })

  it.each(['169.254.169.254', 'fd00:ec2::254%eth0', 'nonsense'])(
    'are refused with %s among them',
    async (address) => {
      const policy = policyWith({ resolve: async () => ['93.184.216.34', address] })
      expect(await found(policy, 'shop.example', true)).toMatchObject({ code: 'TABWIRE_ADDRESS_REFUSED' })
      expect(await policy.whyRefused('https://shop.example/')).toContain(
        `shop.example resolves to ${address}`,
      )
    },
  )
})

describe('resolving at registration', () => {
  it('does not refuse the endpoint when it fails; sending reports it', async () => {
    expect(await policyWith().whyRefused('https://later.example/')).toBeUndefined()
  })

  it('is skipped for a refused URL and for an IP address', async () => {
    const asked: string[] = []
    const policy = policyWith({
      resolve: async (name) => {
        asked.push(name)
        return []
      },
    })
    await policy.whyRefused('https://user@shop.example/')
    await policy.whyRefused('https://127.0.0.1/')
    expect(asked).toEqual([])
    await policy.whyRefused('https://Shop.Example.:8443/')
    expect(asked).toEqual(['shop.example'])
  })

  it('asks once for a name that is being resolved, and again afterwards', async () => {
    const answers: ((addresses: string[]) => void)[] = []
    const policy = policyWith({ resolve: () => new Promise((resolve) => answers.push(resolve)) })
    for (const address of ['169.254.169.254', '93.184.216.34']) {
      const judged = Promise.all(
        ['https://shop.example/', 'https://SHOP.example:8443/'].map(policy.whyRefused),
      )
      for (const answer of answers) answer([address])
      const refused = address === '169.254.169.254' ? (expect.stringContaining(address) as string) : undefined
      expect(await judged).toEqual([refused, refused])
    }
    expect(answers).toHaveLength(2)
  })
})

describe('a policy that sends to loopback only', () => {
  const resolve = vi.fn<() => Promise<string[]>>(async () => [])
  const policy = policyWith({ loopbackOnly: true, resolve })

  it.each(['https://localhost/', 'https://shop.localhost:8443/', 'https://127.0.0.1/', 'https://[::1]:1/'])(
    'sends to %s',
    (url) => expect(policy.whyOffNetwork(url)).toBeUndefined(),
  )

  it.each([
    'https://shop.example/',
    'https://localhost.example/',
    'https://192.168.1.10/',
    'https://93.184.216.34/',
  ])('sends nothing to %s, and accepts it for a receiver of this process', async (url) => {
    expect(policy.whyOffNetwork(url)).toMatch(/^must be a loopback address, .* network: 'any'$/)
    expect(await policy.whyRefused(url)).toBeUndefined()
    expect(resolve).not.toHaveBeenCalled()
  })

  it('refuses the forbidden addresses of every policy', async () => {
    expect(await policy.whyRefused('https://169.254.169.254/')).toMatch(
      /^must not point to a link-local address/,
    )
  })
})

describe('hosts of listeners', () => {
  const url = 'https://abc.listen.invalid/1'
  const resolveNothing = () => Promise.reject(new Error('No name may be resolved.'))

  it.each([{}, { denyPrivate: true }, { loopbackOnly: true }])(
    'are accepted and never looked up: %j',
    async (settings) => {
      const policy = policyWith({ ...settings, resolve: resolveNothing })
      expect(await policy.whyRefused(url)).toBeUndefined()
      const found = await new Promise((resolve) =>
        policy.lookup(443)('abc.listen.invalid', { all: true }, (error, addresses) =>
          resolve(error ?? addresses),
        ),
      )
      expect(found).toMatchObject({ code: 'ENOTFOUND' })
    },
  )

  it('must be https: like all others', async () => {
    expect(await policyWith().whyRefused('http://abc.listen.invalid/1')).toMatch(/^must be an https: URL/)
  })
})
