// Package audit holds the proof that no ad is ever missed while it moves: a
// cluster of real processes is asked all the time while strategies switch (all that
// there are), data change and processes are killed, and every complete answer is
// compared with the slow oracle. It has tests only.
//
// With two replicas of each shard, answers stay complete without any single slave or
// master: TestAuditOfReplicas kills and stops them, and counts incomplete answers.
//
// The short forms run with the other tests; `make audit` runs the long ones.
//
// Answers are judged by two rules (serving.md §5). Queries whose groups do not
// change have one right answer, the oracle's. Groups that change have words of
// their own. Each shows its version, which must be at least as new as the answer's
// applied clock. All must be counted, none twice.
//
// The data are the golden set of targeting, and most questions have a context and blocks. What changes meanwhile is of three kinds: targeting
// of the groups with words of their own; a block list and a place, whose answers are those of the newest change, or of the one before
// until their master has answered by the newest (package clustertest, Shifter); and campaigns, lists and places of the golden set, in
// ways that mean nothing to its answers (Stirrer).
package audit
