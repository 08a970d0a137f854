// Package freshness measures how long it takes until answers show a committed change: from
// the return of the commit (or of the admin call) to the end of the first answer with the
// change.
//
// Run makes one change after another on a running cluster. Course.Measure makes changes at
// a rate, whether or not earlier ones are shown, and changes whole campaigns. It queries a
// URL and knows nothing about how changes get there, so that the feed and package creators
// are measured in the same way.
//
// Both write their own advertisers into the database, with words that no other advertiser
// has, and remove them at the end.
package freshness
