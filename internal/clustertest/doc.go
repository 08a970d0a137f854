// Package clustertest has what tests of whole clusters share: real processes that are
// killed and started again, a database with queries and their right answers, changes
// that go on all the time, and the judgement of what is answered meanwhile.
//
// Answers are judged by two rules (serving.md §5). Queries whose groups do not change have
// one right answer, the oracle's. Groups that change have words of their own. Each shows
// its version, which must be at least as new as the answer's applied clock. All must be
// counted, none twice.
package clustertest
