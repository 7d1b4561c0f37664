import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { TableView } from '../model/guests/guest-table.ts'
import { Refusal } from '../model/refusal.ts'
import type { HttpResponse } from './refusals.ts'
import type { Call, Route } from './route.ts'

/** Renderer and assets of the pages. */
export interface Pages {
  table(view: TableView, language: string | undefined): Promise<string>
  noTable(): Promise<string>
  reference(document: object): Promise<string>
  guide(name: string | undefined): Promise<string | undefined>
  /** Returns the Markdown of a guide. */
  guideText(name: string): Promise<string | undefined>
  /** Returns `llms.txt`: the index of guides and API for coding agents. */
  llms(): Promise<string>
  inspector(): Promise<string>
  asset(name: string): Promise<{ type: string; content: Encodings } | undefined>
}

/** `GET /docs` and `GET /docs/guides`: the API reference and the guides. `.md` after a guide's name returns its Markdown. */
export function docsRoutes(
  pages: Pick<Pages, 'guide' | 'guideText'>,
  reference: { page(call: Call): Promise<string> },
): Route[] {
  const guide = async (call: Call) => {
    const { name } = call.params
    const isText = name?.endsWith('.md') === true
    const page = isText ? await pages.guideText(name.slice(0, -'.md'.length)) : await pages.guide(name)
    if (page === undefined) throw new Refusal('not_found', 'No such guide. /docs/guides lists the guides.')
    return isText ? text(call, 'text/markdown', page) : html(call, 200, page)
  }
  const open = { method: 'GET', scope: null } as const
  return [
    { ...open, path: '', handle: async (call) => html(call, 200, await reference.page(call)) },
    { ...open, path: '/guides', handle: guide },
    { ...open, path: '/guides/:name', handle: guide },
  ]
}

/** `GET /assets/{name}`: scripts and styles, immutable per name. */
export function assetRoutes(pages: Pages): Route[] {
  return [
    {
      method: 'GET',
      path: '/:name',
      scope: null,
      async handle(call) {
        const asset = await pages.asset(call.params.name ?? '')
        if (asset === undefined) throw new Refusal('not_found', 'Page file not found. Reload the page.')
        const encoding = contentEncoding(call.header('accept-encoding'))
        const headers = {
          'content-type': asset.type,
          'cache-control': 'public, max-age=31536000, immutable',
          'cross-origin-resource-policy': 'same-origin',
          ...encodingHeaders(encoding),
        }
        return { status: 200, headers, body: asset.content[encoding] }
      },
    },
  ]
}

/** `GET /`: the inspector, which shows no data without a session; `GET /llms.txt`: the index for coding agents. */
export function inspectorPageRoutes(pages: Pick<Pages, 'inspector' | 'llms'>): Route[] {
  return [
    {
      method: 'GET',
      path: '/',
      scope: null,
      handle: async (call) => html(call, 200, await pages.inspector(), `${policy}; ${noMarkup}`),
    },
    {
      method: 'GET',
      path: '/llms.txt',
      scope: null,
      handle: async (call) => text(call, 'text/plain', await pages.llms()),
    },
  ]
}

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** Prevents that the page's script turns text into markup or scripts. */
const noMarkup = "require-trusted-types-for 'script'; trusted-types 'none'"

/**
 * Prevents caching, framing and referrers: the URL of a guest page contains the token. A page that opens this one in a window
 * cannot lead that window elsewhere later.
 */
export async function html(
  call: Call,
  status: number,
  text: string,
  contentPolicy = policy,
): Promise<HttpResponse> {
  const { headers: encoding, body } = await encoded(text, call.header('accept-encoding'))
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': contentPolicy,
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    ...encoding,
  }
  return { status, headers, body }
}

/** Returns a text that changes with the version only. */
async function text(call: Call, type: string, content: string): Promise<HttpResponse> {
  const { headers: encoding, body } = await encoded(content, call.header('accept-encoding'))
  const headers = {
    'content-type': `${type}; charset=utf-8`,
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-cache',
    ...encoding,
  }
  return { status: 200, headers, body }
}

type ContentEncoding = 'br' | 'gzip' | 'identity'

/** One content in each encoding. */
type Encodings = Readonly<Record<ContentEncoding, Uint8Array>>

/** Brotli's quality for pages that are written per request: a reference page of 400 kB takes some 10 ms. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }

/** Returns the smallest encoding that a client accepts, by its `Accept-Encoding` header. */
function contentEncoding(header: string | null): ContentEncoding {
  const accepted = (header ?? '').toLowerCase().split(',')
  const accepts = (encoding: string) =>
    accepted.some((part) => {
      const [name, weight] = part.split(';').map((text) => text.trim())
      return name === encoding && !/^q=0(\.0*)?$/.test(weight ?? '')
    })
  return accepts('br') ? 'br' : accepts('gzip') ? 'gzip' : 'identity'
}

/** Returns headers and body of an answer in an encoding that the client accepts. */
async function encoded(text: string, header: string | null): Promise<Pick<HttpResponse, 'headers' | 'body'>> {
  const encoding = contentEncoding(header)
  return { headers: encodingHeaders(encoding), body: await compress(text, encoding) }
}

function encodingHeaders(encoding: ContentEncoding): Record<string, string> {
  const vary = { vary: 'Accept-Encoding' }
  return encoding === 'identity' ? vary : { ...vary, 'content-encoding': encoding }
}

function compress(text: string, encoding: ContentEncoding): Promise<Buffer> | string {
  if (encoding === 'br') return promisify(brotliCompress)(text, brotliOptions)
  if (encoding === 'gzip') return promisify(gzip)(text)
  return text
}
