// Package freshness measures how long a committed change takes until answers
// show it: from the return of the commit (or of the admin call) to the end of
// the first answer that has it.
//
// Run makes one change after the other on a running cluster. Course.Measure makes
// changes at a rate, whether earlier ones are shown or not, and changes whole
// campaigns: it asks what is reached by a URL and knows nothing of how changes get
// there, so that the feed and package creators are measured alike.
//
// Both write advertisers of their own into the database, on words that no other advertiser
// has, and remove them at the end.
package freshness
