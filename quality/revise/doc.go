// Package revise writes qualities learned from counts (package quality) to keywords in the
// database, beside the given ones, and takes them back. A revision is planned on a snapshot and
// written as upserts, so that it reaches slaves through the feed like any other change.
//
// Counts of keywords that the database no longer has, or has elsewhere, are not written, but count
// for their group and campaign.
//
// Goals: nothing is made or changed but learned qualities; a second run changes nothing.
// Non-goals: reading files, bids.
package revise
