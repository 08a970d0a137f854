// Package audit holds the proof that no ad is ever missed while it moves. A cluster of real processes is queried
// continuously while it switches between all strategies, data change and processes are killed. Every complete answer
// is compared with the slow oracle. The package has only tests.
//
// With two replicas of each shard, answers stay complete without any single slave or
// master: TestAuditOfReplicas kills and stops them, and counts incomplete answers.
//
// The short forms run with the other tests; `make audit` runs the long ones.
//
// Answers are judged by two rules (serving.md §5). Queries whose groups do not change have one right answer, the
// oracle's. The groups that change are found by words of their own. Each of them shows its version, which must be at
// least as new as the answer's applied clock; all of them must be counted, and none twice.
//
// The data are the golden set of targeting, and most questions have a context and blocks. Three kinds of data change meanwhile. First,
// the targeting of the groups with words of their own. Second, a block list and a place: answers must follow the newest change or, until
// their master has answered by the newest, the previous one (package clustertest, Shifter). Third, campaigns, lists and places of the
// golden set, in ways that do not affect its answers (Stirrer).
package audit
