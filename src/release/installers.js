import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { downloadsOf, fileOf, sha256Of, targets } from './downloads.js'

const DESCRIPTION = 'Local restaurant table-payment service with signed webhooks'
const HOMEPAGE = 'https://github.com/tabwire/tabwire'

/**
 * Writes the install scripts, and the manifests of Homebrew, Scoop and winget where the archives that they name are built.
 */
export function writeInstallers({ out, version, names }) {
  for (const script of ['install.sh', 'install.ps1']) {
    const text = readFileSync(new URL(script, import.meta.url), 'utf8')
    const filled = text.replaceAll('@VERSION@', version).replaceAll('@DOWNLOADS@', downloadsOf(version))
    writeFileSync(join(out, script), filled)
  }
  chmodSync(join(out, 'install.sh'), 0o755)
  const isBuilt = (...needed) => needed.every((name) => names.includes(name))
  const archiveOf = (name) => ({
    url: `${downloadsOf(version)}/${fileOf(name, version)}`,
    sha256: sha256Of(join(out, fileOf(name, version))),
  })
  if (isBuilt(...Object.keys(targets).filter((name) => name !== 'win-x64')))
    writeFileSync(join(out, 'tabwire.rb'), homebrew(version, archiveOf))
  if (!isBuilt('win-x64')) return
  const windows = archiveOf('win-x64')
  writeFileSync(join(out, 'tabwire.scoop.json'), scoop(version, windows))
  mkdirSync(join(out, 'winget'))
  for (const [name, text] of Object.entries(winget(version, windows)))
    writeFileSync(join(out, 'winget', name), text)
}

/** Returns the formula of Homebrew. */
function homebrew(version, archiveOf) {
  const on = (processor, name) => {
    const { url, sha256 } = archiveOf(name)
    return `    on_${processor} do\n      url "${url}"\n      sha256 "${sha256}"\n    end\n`
  }
  return `class Tabwire < Formula
  desc "${DESCRIPTION}"
  homepage "${HOMEPAGE}"
  version "${version}"
  license "MIT"

  on_macos do
${on('arm', 'darwin-arm64')}${on('intel', 'darwin-x64')}  end

  on_linux do
${on('arm', 'linux-arm64')}${on('intel', 'linux-x64')}  end

  def install
    if OS.mac?
      libexec.install Dir["*"]
      bin.install_symlink libexec/"bin/tabwire"
    else
      bin.install "tabwire"
    end
  end

  test do
    assert_match "tabwire/#{version}", shell_output("#{bin}/tabwire --version")
  end
end
`
}

/** Returns the manifest of Scoop. */
function scoop(version, { url, sha256 }) {
  const manifest = {
    version,
    description: DESCRIPTION,
    homepage: HOMEPAGE,
    license: 'MIT',
    architecture: { '64bit': { url, hash: sha256 } },
    bin: 'tabwire.exe',
    checkver: { github: HOMEPAGE },
    autoupdate: {
      architecture: { '64bit': { url: url.replaceAll(version, '$version') } },
      hash: { url: '$baseurl/SHA256SUMS' },
    },
  }
  return `${JSON.stringify(manifest, undefined, 2)}\n`
}

/** Returns the three manifests of winget, by file name. */
function winget(version, { url, sha256 }) {
  const header = `PackageIdentifier: Tabwire.Tabwire\nPackageVersion: ${version}\n`
  const footer = (type) => `ManifestType: ${type}\nManifestVersion: 1.6.0\n`
  return {
    'Tabwire.Tabwire.yaml': `${header}DefaultLocale: en-US\n${footer('version')}`,
    'Tabwire.Tabwire.installer.yaml': `${header}InstallerType: zip
NestedInstallerType: portable
NestedInstallerFiles:
  - RelativeFilePath: tabwire.exe
    PortableCommandAlias: tabwire
Installers:
  - Architecture: x64
    InstallerUrl: ${url}
    InstallerSha256: ${sha256.toUpperCase()}
${footer('installer')}`,
    'Tabwire.Tabwire.locale.en-US.yaml': `${header}PackageLocale: en-US
Publisher: Tabwire
PackageName: Tabwire
License: MIT
ShortDescription: ${DESCRIPTION}
PackageUrl: ${HOMEPAGE}
${footer('defaultLocale')}`,
  }
}
