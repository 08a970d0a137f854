// Package creators implements how data got from the database to answers in the thesis'
// original system (Balancing Keyword-Based Data and Queries, section 2.4): creators build
// whole barrels from scratch, in successive iterations; slaves download their barrels and
// replace their old ones.
//
// An iteration is one build of the barrels of all slaves (Config.Build; the command adbench
// freshness runs `adshard barrels build` as a separate process). Each slave then copies the
// files of its barrel byte by byte onto the disk, opens the copy, switches to it and removes
// the old one. Meanwhile the next iteration is built. Queries are answered within this
// process, by a master's handler with a fan-out over the slaves' stores.
//
// With one creator, all barrels of an iteration come from one snapshot of the database,
// which is the best case. The thesis had a creator for each slave (Config.Each); these end
// at different times. Here, each of them builds all barrels and delivers one, since the
// command has no other mode. Its iterations are therefore longer than necessary, and what
// can be compared is how long answers are mixed relative to an iteration. In both cases
// files are copied on one machine.
//
// Non-goals: rebalancing at night, creators on other machines, the feed.
package creators
