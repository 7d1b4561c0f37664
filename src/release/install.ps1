# Installs Tabwire on Windows, without Node.js. Settings:
#   $env:TABWIRE_INSTALL_DIR  directory of the command (default: %LOCALAPPDATA%\Programs\Tabwire)
#   $env:TABWIRE_DOWNLOADS    URL or directory of the downloads (default: those of the release of this script)
& {
  $ErrorActionPreference = 'Stop'
  # The progress bar of Windows PowerShell makes a download several times slower.
  $ProgressPreference = 'SilentlyContinue'
  [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12

  $version = '@VERSION@'
  $downloads = if ($env:TABWIRE_DOWNLOADS) { $env:TABWIRE_DOWNLOADS } else { '@DOWNLOADS@' }
  $bin = if ($env:TABWIRE_INSTALL_DIR) { $env:TABWIRE_INSTALL_DIR } else { Join-Path $env:LOCALAPPDATA 'Programs\Tabwire' }
  $archive = "tabwire-$version-win-x64.zip"

  if (-not [Environment]::Is64BitOperatingSystem) {
    throw 'There is no download for 32-bit Windows. With Node.js, run: npm install --global tabwire'
  }

  $folder = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
  New-Item -ItemType Directory -Path $folder | Out-Null
  try {
    function Get-Download($name) {
      $target = Join-Path $folder $name
      if ($downloads -match '^https?://') {
        Invoke-WebRequest -UseBasicParsing -Uri "$downloads/$name" -OutFile $target
      } else {
        Copy-Item -LiteralPath (Join-Path $downloads $name) -Destination $target
      }
    }

    Write-Host "Downloading $archive"
    Get-Download 'SHA256SUMS'
    Get-Download $archive

    $line = Get-Content (Join-Path $folder 'SHA256SUMS') | Where-Object { $_ -match "^[0-9a-f]{64}  $([regex]::Escape($archive))$" }
    if (-not $line) { throw "SHA256SUMS has no checksum of $archive." }
    $expected = ([string]$line).Substring(0, 64)
    $actual = (Get-FileHash -Algorithm SHA256 -LiteralPath (Join-Path $folder $archive)).Hash.ToLowerInvariant()
    if ($actual -ne $expected) {
      throw "The checksum of $archive is wrong: expected $expected, got $actual. Nothing was installed."
    }

    Expand-Archive -LiteralPath (Join-Path $folder $archive) -DestinationPath (Join-Path $folder 'new')
    New-Item -ItemType Directory -Force -Path $bin | Out-Null
    $command = Join-Path $bin 'tabwire.exe'
    # A running program cannot be overwritten, but renamed.
    if (Test-Path -LiteralPath $command) {
      Remove-Item -LiteralPath "$command.old" -Force -ErrorAction SilentlyContinue
      Move-Item -LiteralPath $command -Destination "$command.old" -Force
    }
    Move-Item -LiteralPath (Join-Path $folder 'new\tabwire.exe') -Destination $command
    Remove-Item -LiteralPath "$command.old" -Force -ErrorAction SilentlyContinue
  } finally {
    Remove-Item -LiteralPath $folder -Recurse -Force -ErrorAction SilentlyContinue
  }

  Write-Host "Installed $(& $command --version) as $command"
  # As it is stored: .NET would replace variables in it, such as %USERPROFILE%.
  $environment = 'HKCU:\Environment'
  $path = (Get-Item -LiteralPath $environment).GetValue('Path', '', 'DoNotExpandEnvironmentNames') -split ';' -ne ''
  if ($path -notcontains $bin) {
    Set-ItemProperty -LiteralPath $environment -Name 'Path' -Type ExpandString -Value ((@($path) + $bin) -join ';')
    # Removing a variable that does not exist tells running programs to read their environment again.
    [Environment]::SetEnvironmentVariable('TABWIRE_INSTALLED', $null, 'User')
    Write-Host "Added $bin to your PATH. Open a new terminal, then run: tabwire start"
  } else {
    Write-Host 'Start it with: tabwire start'
  }
}
