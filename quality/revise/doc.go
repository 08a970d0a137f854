// Package revise writes qualities learned from counts (package quality) to keywords in the
// database, in addition to the given ones, and takes them back. A revision is planned on a snapshot
// and written as upserts, so it reaches slaves through the feed like any other change.
//
// Counts of keywords that the database no longer has, or has elsewhere, are not written, but they
// count for their group and campaign.
//
// Goals: only learned qualities are written or changed; a second run changes nothing. Non-goals:
// reading files, bids.
package revise
