import { createMemoryStore } from '../../src/store/memory-store.ts'
import { storeSuite } from './store-suite.ts'

storeSuite('the memory store', async () => createMemoryStore())
