export { ApiError, TimedOut, Unreachable } from './api-error.ts'
export { createSimulator, type Simulator } from './library/create-simulator.ts'
export { NotDelivered, type DeliveriesWanted, type SomeDeliveries } from './library/wait.ts'
export { type SimulatorOptions } from './simulator.ts'
