// Package rekey rebuilds the keys of keywords and negatives when the version of words changes. A key is the
// normalised words of a text (serving.md §6). So the keys of a database belong to one version of words, which the
// database names. A program of another version would look for keywords under the wrong keys.
//
// A backend calls Run whenever it is opened. If the database names another version, Run claims the keys, compares
// each key with the present key of its text, changes those that differ, a number of owners in each transaction, and
// finally notes the version.
//
// How this could go wrong, by mistake or malice:
//   - A program of the previous version is still running and writes old keys. It cannot:
//     the database rejects transactions of writers that name another version
//     than it does, and while keys are rebuilt it names no program's version. Programs from
//     before there were versions name none. The transactions that they began earlier are waited for.
//   - An older program opens the database. It is refused: the schema is newer or, if the schema
//     is the same, the words are newer (words.Older).
//   - The program is killed after any step, or the machine crashes. The database still names no
//     version of any program, so the next program that opens it begins again. Keys that are
//     already rebuilt are left, since rebuilding a key twice gives the same. Nothing reads by keys in between.
//   - Several programs open it at once. All end with the same keys; one that waits too long fails with fault.Locked and opens nothing.
//   - Several keywords of one owner and type become equal. The one with the lowest id is kept
//     unchanged. The others are removed, and noted in the same transaction with their text,
//     bid and status, so that nothing is lost silently. A negative that is
//     kept is enabled if any of them was, so that restrictions remain.
//   - A new key is the old key of a neighbour whose key changes, too. All rows that change
//     are deleted before any is written.
//   - A text is no longer a valid keyword (no word, too many words, or rejected). It would stop
//     the feed for ever, since no record can be built from it. It is removed and noted, too.
//   - A row is damaged. Text that is not UTF-8 is left as it is, and the checksum of its
//     owner stays wrong. Checksums are updated by the difference that each change makes.
//
// Goals: one mechanism for every later version of words, on any relational backend. Non-goals: SQL; the stores of
// slaves, which are rebuilt (docs/operations/upgrade.md).
package rekey
