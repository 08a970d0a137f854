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
// With one creator all barrels of an iteration are of one snapshot of the database: the best
// case. The thesis had a creator for each slave (Config.Each), which end at different times.
// Each then builds all barrels and delivers one, since the command knows no other way: its
// iterations are longer than they had to be, and what can be compared is how long answers
// are mixed beside an iteration. In both cases files are copied on one machine.
//
// Non-goals: rebalancing at night, creators on other machines, the feed.
package creators
