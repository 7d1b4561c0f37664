import { serve } from '../../../../fixtures/receivers/wrong/receiver.mjs'

serve({ isRecent: (age) => Math.abs(age) <= 2 })
