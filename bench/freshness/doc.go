// Package freshness measures how long a committed change takes until answers
// show it: from the return of the commit (or of the admin call) to the end of
// the first answer that has it.
//
// It writes advertisers of its own into the database, whose keyword is a word
// that no one else has, and removes them at the end.
package freshness
