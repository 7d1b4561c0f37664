import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { openApiDocument } from '../../../../src/http/openapi/document.ts'
import { atEnd } from '../../../support/at-end.ts'
import { spawnProcess } from '../../../support/cli.ts'
import { fetched } from '../../../support/fetched.ts'
import { root } from '../../../support/packed.ts'
import { withOpenApiFetch, withSwaggerTypescriptApi } from './uses.ts'

/** A program that uses a client, with the URL of the service and the key. */
interface Program {
  use(baseUrl: string, apiKey: string): Promise<unknown>
}

/** The parts of the generators that are used here. */
interface OpenApiTypescript {
  default(document: object): Promise<object>
  astToString(ast: object): string
}
interface SwaggerTypescriptApi {
  generateApi(options: object): Promise<{ files: { fileName: string; fileContent: string }[] }>
}

async function imported<Module>(path: string): Promise<Module> {
  return (await import(/* @vite-ignore */ pathToFileURL(path).href)) as Module
}

const modules = join(
  fetched(
    'typescript@~5.9.3',
    'openapi-typescript@~7.13.0',
    'openapi-fetch@~0.17.0',
    'swagger-typescript-api@~13.13.0',
  ),
  'node_modules',
)

/** Generates and compiles both clients with their example programs; `problems` are the compiler's errors. */
export async function makeClients() {
  const directory = await mkdtemp(join(tmpdir(), 'tabwire-clients-'))
  atEnd(() => rm(directory, { recursive: true, force: true }))
  const { default: openapiTS, astToString } = await imported<OpenApiTypescript>(
    join(modules, 'openapi-typescript/dist/index.mjs'),
  )
  await symlink(modules, join(directory, 'node_modules'), 'junction')
  const spec = await openApiDocument()
  const files = {
    'package.json': '{"type":"module"}',
    'tsconfig.json': JSON.stringify({ compilerOptions }),
    'schema.ts': astToString(await openapiTS(structuredClone(spec))),
    'Api.ts': await swaggerClient(spec),
    'with-openapi-fetch.ts': withOpenApiFetch,
    'with-swagger-typescript-api.ts': withSwaggerTypescriptApi,
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text)
  const load = async (name: string) =>
    (await import(/* @vite-ignore */ pathToFileURL(join(directory, `${name}.js`)).href)) as Program
  return { problems: await compile(directory), load }
}

async function swaggerClient(spec: object): Promise<string> {
  const { generateApi } = await imported<SwaggerTypescriptApi>(
    join(modules, 'swagger-typescript-api/dist/index.mjs'),
  )
  const { files } = await generateApi({ spec: spec, output: false, silent: true })
  return files.find(({ fileName }) => fileName === 'Api')?.fileContent ?? ''
}

/** As strictly as can be expected of code that others generate. */
const compilerOptions = {
  strict: true,
  noImplicitReturns: true,
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.iterable'],
  module: 'nodenext',
  types: [],
  skipLibCheck: true,
}

async function compile(directory: string): Promise<string> {
  const compiler = join(root, 'node_modules/typescript-native/bin/tsc')
  const { stdout } = await (
    await spawnProcess(process.execPath, [compiler, '-p', '.'], { cwd: directory })
  ).ended
  return stdout
}
