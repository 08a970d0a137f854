// Package spelling corrects words that no keyword has (serving.md §2).
//
// A Vocabulary holds the folded forms of keywords' words with their frequencies, in one text whose
// hash is its version. It is data: whatever counts keywords makes the text with a Counter, and
// everything that expands queries reads it with Parse, so that equal versions give equal
// corrections.
//
// Corrections are found by deletions, the idea of SymSpell (Garbe 2012) and of FastSS (Bocek, Hunt
// and Stiller 2007): two words within k edits have a common rest after k deletions from each. Here
// the first letters must agree, so that they are never deleted, and exactly k letters are deleted
// from a beginning of fixed length, which a short word fills up with zeros (index.go says why that
// suffices). Ids of words are their ranks, so lists of ids begin with the most frequent words.
//
// Goals: exactly the corrections of the specification (spelling_test.go compares with a slow
// search of all words); little memory, since all masters hold a vocabulary. Non-goals: errors that
// sound alike, words wrongly joined or split, corrections by the rest of the query.
package spelling
