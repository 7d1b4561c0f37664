import { describe, expect, test } from 'vitest'
import { contractions, oldWords } from '../support/old-words.ts'
import { cellsOf, documents, proseOf, readDocument } from './blocks.ts'

/** Longest front page, in lines. */
const README_LINES = 250
/** Words of a sentence: on average in a document, and at most. */
const WORDS = { average: 18, most: 30 }
/** Words of a table's cell, at most. */
const CELL_WORDS = 12

const old = new RegExp(String.raw`\b(?:${oldWords.join('|')})\b`, 'i')

/** The sentences of a document. A list's introduction ends with a colon. */
const sentencesOf = (document: string) =>
  proseOf(readDocument(document)).flatMap((paragraph) => paragraph.split(/(?<=[.!?:])\s+(?=["'“(]?[A-Z`])/))
const wordsOf = (sentence: string) => sentence.split(/\s+/).filter((word) => /\w/.test(word)).length

/** The documents, and the changelog, which has no blocks to run. */
const texts = [...documents, 'CHANGELOG.md']

describe.each(texts.map((document) => ({ document })))('$document', ({ document }) => {
  test('has plain words', () => {
    const all = [...sentencesOf(document), ...cellsOf(readDocument(document))]
    const found = all.filter((text) => old.test(text) || contractions.test(text))
    expect(found).toEqual([])
  })

  test('has short cells', () => {
    expect(cellsOf(readDocument(document)).filter((cell) => wordsOf(cell) > CELL_WORDS)).toEqual([])
  })

  test('has short sentences', () => {
    const sentences = sentencesOf(document)
    expect(sentences.filter((sentence) => wordsOf(sentence) > WORDS.most)).toEqual([])
    const total = sentences.reduce((sum, sentence) => sum + wordsOf(sentence), 0)
    expect(total / sentences.length).toBeLessThanOrEqual(WORDS.average)
  })
})

test('the front page is short', () => {
  expect(readDocument('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(README_LINES)
})
