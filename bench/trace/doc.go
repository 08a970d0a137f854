// Package trace computes what each query costs on each ad group, so that any
// placement of the groups can be judged without asking a store: the work of a
// query on a slave is the sum over the groups that lie there.
//
// The cost is the number of postings that a search without skipped blocks decides on (all those
// anchored at the query's terms), and how many of them match. A real slave skips blocks that
// cannot win; how many depends on what else lies there, so that its work is not a sum. The
// trace is thus what a slave looks at with exact counts, an upper bound without.
//
// The anchor of a keyword is chosen as the barrels' offline build does: the
// rarest term of all groups, wherever they lie.
package trace
