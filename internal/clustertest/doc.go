// Package clustertest has the common parts of tests of whole clusters: real processes that are killed and started
// again, a database with queries and their right answers, changes that go on all the time, and checks of the answers
// meanwhile.
//
// Answers are judged by two rules (serving.md §5). Queries whose groups do not change have one right answer, the
// oracle's. The groups that change are found by words of their own. Each of them shows its version, which must be at
// least as new as the answer's applied clock; all of them must be counted, and none twice.
package clustertest
