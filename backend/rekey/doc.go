// Package rekey makes the keys of keywords and negatives anew when the version of
// words changes. A key is a text's normalised words (serving.md §6), so a database
// has keys of one version of words, and names it. A program of another version would
// look for keywords under the wrong keys.
//
// A backend calls Run whenever it is opened. If the database names another version,
// Run claims the keys, compares each with what its text gives now, changes those that
// differ, some owners to a transaction, and notes the version at last.
//
// What an adversary, or a mistake, could make of this:
//   - A program of the version before, which runs on, writes keys of its own. It
//     cannot: the database refuses transactions of writers that name another version
//     than it does, and none is named while keys are made. Programs from before there
//     was a version name none. What they began before is waited for.
//   - An older program opens the database: its schema is newer, or, when the schema
//     is the same, its words are (words.Older); it is refused.
//   - Killed after any step, or the machine crashes: the database still names no
//     version that a program has, so that the next one that opens it begins again. What is done
//     is found done, since a key made twice is the same. Nothing reads by keys in between.
//   - Several programs open it at once: all end with the same keys; one that waits too long fails with fault.Locked, and opens nothing.
//   - Keywords of one owner and type become one: that with the lowest id stays, as it
//     is. All others are removed, and noted in the same transaction, with their text,
//     bid and status, so that nothing is lost without a word. Of negatives, the one that
//     stays is enabled if any was: what was restricted remains so.
//   - A new key is the old key of a neighbour, whose key changes too: all that change
//     are taken away before any is written.
//   - A text that gives no keyword any more (no word, too many, or refused) would stop
//     the feed for ever, as no record can be built from it. It is removed and noted, too.
//   - A damaged row: text that is not UTF-8 stays as it is, and the checksum of its
//     owner stays wrong. Checksums follow each change by the difference that it makes.
//
// Goals: one mechanism for every later version of words, on any relational backend.
// Non-goals: SQL; stores of slaves, which are built again (docs/operations/upgrade.md).
package rekey
