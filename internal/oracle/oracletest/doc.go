// Package oracletest draws small random worlds of advertisers' data, queries
// and changes for property tests (pgregory.net/rapid).
//
// The worlds are small and their words few, so that keywords collide: equal words in other spellings, inflected forms
// of two languages, synonyms (Synonyms), negatives that block, equal scores, all kinds of entities paused. Everything
// drawn keeps the rules of package backend: ids rise and are never reused, natural keys are unique, entities have a
// version.
//
// The package is only for tests.
package oracletest
