#!/usr/bin/env node
import module from 'node:module'
import { execute } from '@oclif/core'

// Where Node can (from 22.1 on), compiled code is kept between runs.
module.enableCompileCache?.()

await execute({ dir: import.meta.url })
