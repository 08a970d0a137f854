// Package trace computes what each query costs on each ad group, so that any placement of the
// groups can be judged without asking a store: the work of a query on a slave is the sum over
// the groups on that slave.
//
// The cost is the number of postings that a search without skipped blocks decides on (all
// postings anchored at the query's terms), and how many of them match. A real slave skips
// blocks that cannot win. How many it skips depends on its other groups, so its work is not a
// sum. The trace is therefore what a slave looks at with exact counts, and otherwise an upper
// bound.
//
// The anchor of a keyword is chosen as in the barrels' offline build: it is the rarest term
// over all groups, wherever they are.
package trace
