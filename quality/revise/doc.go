// Package revise gives keywords in the database the qualities that were learned from
// counts (package quality), beside those that were given, and takes them back. A revision is planned on a snapshot and written as upserts,
// so that it goes to slaves through the feed like any other change.
//
// What the counts name and the database no longer has, or has elsewhere, is not
// written, but teaches about its group and campaign.
//
// Goals: nothing is made or changed but learned qualities; a second run changes nothing.
// Non-goals: reading files, bids.
package revise
