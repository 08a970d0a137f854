// Package creators is the way of the thesis' original system from the database to
// answers (Balancing Keyword-Based Data and Queries, section 2.4): creators build whole
// barrels from scratch, in subsequent iterations, slaves download theirs and replace
// their old ones.
//
// An iteration is one build of the barrels of all slaves (Config.Build; the command
// adbench freshness runs `adshard barrels build`, a process of its own). Each slave then
// copies the files of its barrel, byte by byte and onto the disk, opens the copy, switches
// to it and removes the old one. Meanwhile the next iteration is built. Queries are
// answered by a master's handler and fan-out over the slaves' stores, within this process.
//
// This is the best case of the thesis' way: all barrels of an iteration are of one
// snapshot of the database, where the thesis had a creator for each slave, which ended at
// different times; and files are copied on one machine.
//
// Non-goals: rebalancing at night, creators on other machines, the feed.
package creators
